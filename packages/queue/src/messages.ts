import type { DuplicateMark } from '@hqrelay/domain/delivery/duplicates';
import { z } from 'zod';

const delivery = z.object({
  deliveryId: z.uuid(),
  endpointId: z.uuid(),
  /** Counted from 1. */
  attemptNum: z.number().int().positive(),
  lane: z.enum(['live', 'retry', 'replay']),
  /** The earliest time of the attempt, ms since epoch. */
  notBefore: z.number(),
  replayId: z.uuid().optional(),
});

const credentialPlace = z.object({
  name: z.string(),
  secretId: z.string(),
  before: z.string(),
  after: z.string(),
  base64: z.boolean().optional(),
});

const duplicateMark = z.enum(['done_if_recorded', 'resume_if_recorded']) satisfies z.ZodType<DuplicateMark>;

const wireEnvelope = z.object({
  v: z.literal(1),
  /** The webhook's id: `webhook_logs.id`, the `id` of the 202, `webhook-id` at the endpoint. */
  id: z.uuidv7(),
  projectId: z.uuid(),
  eventType: z.string().nullable(),
  correlationId: z.string(),
  /** The endpoints that the webhook is owed to; fixed at acceptance. */
  endpointIds: z.array(z.uuid()),
  /** The provider's headers, in order, without credentials and hop-by-hop headers. As tuples of zod they would cost as much as the rest. */
  headers: z.custom<[name: string, value: string][]>(areHeaderPairs, 'not a list of pairs of strings'),
  /** The key of each ordered endpoint's delivery, by the endpoint's id; fixed at acceptance. Its other deliveries are unordered. */
  orderingKeys: z.record(z.string(), z.string()).optional(),
  /** Where credential headers contained secrets of the project, for endpoints that forward credentials. */
  credentials: z.array(credentialPlace).optional(),
  /** Another message of the same delivery and attempt may exist. */
  mayBeDuplicate: duplicateMark.optional(),
  /** The marks of the previous version: `copy` means `done_if_recorded`, `redelivered` means `resume_if_recorded`. */
  copy: z.boolean().optional(),
  redelivered: z.boolean().optional(),
  /** A worker put the message back after its first delivery limit; at the second one it is a dead letter. */
  putBack: z.boolean().optional(),
  /** Absent while the webhook is still to be fanned out. */
  delivery: delivery.optional(),
});

function areHeaderPairs(value: unknown): boolean {
  return Array.isArray(value) && value.every(isPairOfStrings);
}

function isPairOfStrings(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'string'
  );
}

type WireEnvelope = z.infer<typeof wireEnvelope>;
export type Envelope = Omit<WireEnvelope, 'copy' | 'redelivered'>;
export type DeliveryFields = z.infer<typeof delivery>;
export type Message = { envelope: Envelope; body: Buffer };
/** The message of one delivery. */
export type DeliveryMessage = { envelope: Envelope & { delivery: DeliveryFields }; body: Buffer };

/**
 * `[length of the envelope, 32 bit big-endian][envelope, JSON][the webhook's raw body]`. Metadata and the
 * customer's headers are here and not in AMQP headers, of which some (`CC`, `BCC`) route.
 */
export function encodeMessage(message: Message): Buffer {
  const json = JSON.stringify(toWire(message.envelope));
  const jsonLength = Buffer.byteLength(json);
  const buffer = Buffer.allocUnsafe(4 + jsonLength + message.body.length);
  buffer.writeUInt32BE(jsonLength, 0);
  buffer.write(json, 4);
  message.body.copy(buffer, 4 + jsonLength);
  return buffer;
}

export type DecodedMessage = { kind: 'message'; message: Message } | { kind: 'unreadable'; reason: string };

/** Never throws: for bytes that are not a message of a known version it returns the reason. */
export function decodeMessage(content: Buffer): DecodedMessage {
  if (content.length < 4) return { kind: 'unreadable', reason: 'shorter than its length field' };
  const jsonLength = content.readUInt32BE(0);
  if (content.length < 4 + jsonLength) return { kind: 'unreadable', reason: 'shorter than its envelope' };
  let json: unknown;
  try {
    json = JSON.parse(content.toString('utf8', 4, 4 + jsonLength));
  } catch {
    return { kind: 'unreadable', reason: 'the envelope is not JSON' };
  }
  const parsed = wireEnvelope.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { kind: 'unreadable', reason: `envelope: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}` };
  }
  return {
    kind: 'message',
    message: { envelope: fromWire(parsed.data), body: content.subarray(4 + jsonLength) },
  };
}

/** Workers of the previous version ignore `mayBeDuplicate`, so the marks that they read are written too. */
function toWire(envelope: Envelope): WireEnvelope {
  if (!envelope.mayBeDuplicate) return envelope;
  return { ...envelope, copy: true, redelivered: envelope.mayBeDuplicate === 'resume_if_recorded' };
}

function fromWire(wire: WireEnvelope): Envelope {
  if (wire.copy === undefined && wire.redelivered === undefined) return wire;
  const { copy, redelivered, ...envelope } = wire;
  if (envelope.mayBeDuplicate || !(copy || redelivered)) return envelope;
  return { ...envelope, mayBeDuplicate: redelivered ? 'resume_if_recorded' : 'done_if_recorded' };
}
