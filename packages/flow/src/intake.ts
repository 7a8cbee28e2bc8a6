/** How much of a queue may be in memory at once. */
export type IntakeLimits = {
  messagesMax: number;
  bytesMax: number;
  /** The largest that can come. */
  messageBytesMax: number;
};

/** What is in memory, and how many messages the broker may send at any moment without being asked again. */
export type Intake = { bytes: number; room: number };

const sliceMessagesMax = 50;

/**
 * A broker counts messages, not bytes, so whatever it may still send is taken for as large as can be: `bytes` in memory and
 * `room` for more never exceed `bytesMax` together. Whether `messages` more room keeps to that.
 */
export function mayMakeRoom(limits: IntakeLimits, { bytes, room }: Intake, messages: number): boolean {
  return bytes + (room + messages) * limits.messageBytesMax <= limits.bytesMax;
}

/** The prefetch of one slice: two slices of the largest messages fit, unless one message alone is too much for that. */
export function sliceMessages({ messagesMax, bytesMax, messageBytesMax }: IntakeLimits): number {
  return Math.max(1, Math.min(sliceMessagesMax, messagesMax, Math.floor(bytesMax / messageBytesMax / 2)));
}
