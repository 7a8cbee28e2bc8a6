import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FuzzCase } from './fuzz-case.ts';
import { readAnswers } from './read-answers.ts';

export type Sent = { received: Buffer; isHung: boolean };

/** The contract: no answer takes longer than 2.5 s. A busy machine gets as long again. */
const answerWithinMs = 5_000;
/** The receiver gives headers 10 s and checks each second. */
const closeWithinMs = 20_000;

/** Sends one case on a connection of its own, and returns all that came back. */
export function sendCase(port: number, { writes, end, answers, isHead }: FuzzCase): Promise<Sent> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const finish = (isHung: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ received: Buffer.concat(chunks), isHung });
    };
    const timer = setTimeout(() => finish(true), end === 'stall' ? closeWithinMs : answerWithinMs);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (end === 'wait' && readAnswers(Buffer.concat(chunks), isHead).answers.length >= answers[0])
        finish(false);
    });
    // The receiver may close while the rest of a refused request is being sent.
    socket.on('error', () => {}).once('close', () => finish(false));
    socket.once('connect', () => void write(socket, writes, end));
  });
}

async function write(socket: Socket, pieces: readonly Buffer[], end: FuzzCase['end']): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    await nextTurn();
  }
  if (end === 'half-close') socket.end();
  if (end === 'reset') socket.resetAndDestroy();
}
