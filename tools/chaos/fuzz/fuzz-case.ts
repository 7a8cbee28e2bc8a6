import type { SeededProject } from '@hqrelay/testing/seed';
import type { Random } from './random.ts';

/** What is sent on one connection, and what HTTP lets a client expect of it. */
export type FuzzCase = {
  /** The writes, in order. */
  writes: Buffer[];
  /**
   * What follows the last write: the client waits for its answers, half-closes the connection and waits until the receiver
   * closes it, resets it, or sends nothing more until the receiver closes it.
   */
  end: 'wait' | 'half-close' | 'reset' | 'stall';
  /** The least and the most answers. */
  answers: readonly [number, number];
  /** Of every answer; any status below 500 when absent. */
  statuses?: readonly number[];
  /** The first request has the method HEAD, whose answer has no body. */
  isHead?: boolean;
};

export type FuzzTarget = { project: SeededProject };

/** One family of cases. */
export type CaseMaker = {
  name: string;
  make: (random: Random, target: FuzzTarget) => FuzzCase;
};

/** Bytes of text with one byte for each character. */
export const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** A request as text with one character for each byte. */
export function requestText(
  requestLine: string,
  headers: readonly (readonly [string, string])[],
  body = '',
): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${requestLine}\r\n${lines.join('')}\r\n${body}`;
}

/** The bytes cut at random places, one write for each piece. */
export function inPieces(random: Random, bytes: Buffer, piecesMax = 6): Buffer[] {
  const cuts = Array.from({ length: random.int(piecesMax) }, () => random.int(bytes.length + 1));
  const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
  return places
    .slice(1)
    .map((end, index) => bytes.subarray(places[index], end))
    .filter((piece) => piece.length > 0);
}
