import type { Wording } from './finding.ts';

const quoteLengthMax = 160;

/** For people. */
export const wordingForPeople: Wording = {
  endpoint: ({ id, url }) => placeOf(url) ?? `the endpoint ${id}`,
  quoted: (text) => `“${shorten(text)}”`,
  count: (count) => count.toLocaleString('en'),
  percent: (share) => `${share > 0 && share < 0.01 ? '<1' : Math.floor(share * 100)} %`,
  ms: (ms) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`),
  time: (at) => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
};

/** A URL without its account, query and fragment; undefined for a text that is none. */
function placeOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** One line, without characters that could steer a terminal or end the quotation. */
export function shorten(text: string, lengthMax = quoteLengthMax): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}“”«»]+/gu, ' ')
    .trim();
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 1).toWellFormed()}…` : line;
}
