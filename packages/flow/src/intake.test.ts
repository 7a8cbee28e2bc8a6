import { expect, it } from 'vitest';
import { mayMakeRoom, sliceMessages } from './intake.ts';

const limits = { messagesMax: 2_000, bytesMax: 100, messageBytesMax: 10 };

it('makes room for as many of the largest messages as fit beside those that are there', () => {
  expect(mayMakeRoom(limits, { bytes: 0, room: 0 }, 10)).toBe(true);
  expect(mayMakeRoom(limits, { bytes: 0, room: 0 }, 11)).toBe(false);
  expect(mayMakeRoom(limits, { bytes: 50, room: 4 }, 1)).toBe(true);
  expect(mayMakeRoom(limits, { bytes: 51, room: 4 }, 1)).toBe(false);
});

it('opens slices of which two fit, of 50 messages at most and one at least', () => {
  expect(sliceMessages(limits)).toBe(5);
  expect(sliceMessages({ ...limits, messageBytesMax: 0.001 })).toBe(50);
  expect(sliceMessages({ ...limits, messagesMax: 3 })).toBe(3);
  expect(sliceMessages({ ...limits, messageBytesMax: 1_000 })).toBe(1);
});

it('keeps to the bytes whatever comes, in whatever order', () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const held: number[] = [];
  const intake = { bytes: 0, room: 0 };
  for (let i = 0; i < 20_000; i += 1) {
    if (random() < 0.5 && intake.room > 0) {
      const bytes = random() < 0.5 ? 1 : limits.messageBytesMax;
      held.push(bytes);
      intake.bytes += bytes;
      intake.room -= 1;
    } else if (random() < 0.5 && held.length > 0) {
      intake.bytes -= held.splice(Math.floor(random() * held.length), 1)[0]!;
    }
    if (mayMakeRoom(limits, intake, 1)) intake.room += 1;
    expect(intake.bytes).toBeLessThanOrEqual(limits.bytesMax);
  }
});
