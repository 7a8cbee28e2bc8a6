import { shorten } from '../wording.ts';

const lengthMax = 160;
const readMax = 1_000;
const hidden = '…';
const word = /[\p{L}\p{M}\p{N}_-]+/gu;
/** Shorter words may occur inside others. */
const partLengthMin = 6;

/**
 * The beginning of a text that an endpoint or a provider wrote, as far as it may leave the machine: without the words of `request`,
 * which it may repeat, and without what may be an id, a number of a card or phone, an address, a URL or a key. `request` is what the
 * endpoint received.
 */
export function excerpt(text: string, request: string): string {
  const spelled = allSpellings(request).toLowerCase();
  const words = new Set(spelled.match(word));
  const isRepeated = (part: string) =>
    words.has(part) || (part.length >= partLengthMin && spelled.includes(part));
  const masked = shorten(text, readMax)
    .replaceAll(/\S*(?:@|:\/\/|\\u|%[0-9a-f]{2}|&#)\S*/gi, hidden)
    .replaceAll(word, (part) => (maySignify(part) || isRepeated(part.toLowerCase()) ? hidden : part));
  return shorten(masked.replaceAll(/…(?:[\s\p{P}]*…)+/gu, hidden), lengthMax);
}

/** Whether a word may be an id, a number or a key, or is of a script without spaces, whose words cannot be compared. */
function maySignify(part: string): boolean {
  return (
    part.length > 24 || (part.length >= 4 && /\d/.test(part)) || /[^\p{Script=Latin}\p{N}_-]/u.test(part)
  );
}

/** The request as it is, and its texts as a program that parsed it would write them. */
function allSpellings(request: string): string {
  const escapes = request.replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const percents = request.replaceAll('+', ' ').replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => decoded(bytes));
  return `${request}\n${escapes}\n${percents}`;
}

function decoded(bytes: string): string {
  try {
    return decodeURIComponent(bytes);
  } catch {
    return bytes;
  }
}
