/** A body that a sender may have signed, when a program on the way made `body` of it. */
export type OriginalBody = { alteration: string; body: Buffer };

/**
 * The bodies that proxies and web frameworks most often turn into this one: without or with a newline at the end, and the
 * same JSON as the common serialisers write it. Each is made only when it is asked for.
 */
export function* originalsOf(body: Buffer): Generator<OriginalBody> {
  const text = body.toString('latin1');
  const trimmed = text.replace(/[\r\n]+$/, '');
  if (trimmed === text) {
    yield { alteration: 'a newline at its end was removed', body: Buffer.from(`${text}\n`, 'latin1') };
  } else {
    yield { alteration: 'a newline was added at its end', body: Buffer.from(trimmed, 'latin1') };
  }
  const compact = compactJson(body);
  if (compact === undefined) return;
  for (const json of [compact, JSON.stringify(JSON.parse(compact), null, 2), spaced(compact)]) {
    for (const spelling of new Set([json, withEscapes(json)])) {
      yield { alteration: 'its JSON was serialised again', body: Buffer.from(spelling) };
    }
  }
}

/** Undefined where the body is not a JSON object or array. */
function compactJson(body: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
  } catch {
    // Another kind of body has no other serialisation.
    return undefined;
  }
}

/** Compact JSON as Python's `json.dumps` writes it: a space after each comma and colon outside strings. */
function spaced(compact: string): string {
  return compact.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (token) => (token.length === 1 ? `${token} ` : token));
}

/** With every character beyond ASCII as an escape, as Python and PHP write it. */
function withEscapes(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
