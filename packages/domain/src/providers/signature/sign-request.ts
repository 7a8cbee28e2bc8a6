import { decodeHmacKey } from './decode-key.ts';
import { headerLookupOf } from '../request/header-lookup.ts';
import { onTheWire, readSource } from '../request/read-source.ts';
import { viewOf } from '../request/request-view.ts';
import { messagesOf, type HmacScheme, type Scheme } from '../scheme.ts';
import { hmacOf, messageOf } from './signed-message.ts';
import { formatTime } from './signed-time.ts';
import { renderText, type TemplateValues } from '../request/template.ts';
import { holds, type ProjectKeys } from './verify-request.ts';

/** A request that is not signed yet. */
export type Draft = {
  method: string;
  /** What the provider would post to, with its query. */
  url: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
};

/** What makes a draft pass the check: further headers, and the URL with a further query where the proof stands there. */
export type SignedDraft = { headers: Record<string, string>; url: string };

/**
 * Signs a draft at `now` (ms) as the provider does, with the first of the project's secrets. Throws RangeError, with the reason,
 * where the relay cannot: only the provider has the private key, the signature stands inside the body, or the body lacks
 * a field that is signed.
 */
export function signRequest(
  schemes: readonly Scheme[],
  { secrets, settings = {} }: ProjectKeys,
  draft: Draft,
  now: number,
): SignedDraft {
  const query = draft.url.includes('?') ? draft.url.slice(draft.url.indexOf('?') + 1) : '';
  const headers = { ...draft.headers };
  const view = viewOf({ ...draft, query, headers: headerLookupOf(Object.entries(headers)) });
  const values: TemplateValues = { view, settings };
  const scheme = schemes.find((each) => isForDraft(each, values));
  if (!scheme) throw new RangeError('no scheme of the provider fits this body');
  if (scheme.kind === 'none') return { headers, url: draft.url };
  const key = secrets[0]?.key ?? '';
  if (scheme.kind === 'basic') {
    return {
      headers: { ...headers, authorization: `Basic ${Buffer.from(key).toString('base64')}` },
      url: draft.url,
    };
  }
  if (scheme.kind === 'token') {
    return place(scheme.from, (scheme.prefix ?? '') + onTheWire(key), { headers, url: draft.url });
  }
  if (scheme.kind !== 'hmac') {
    throw new RangeError(`only the provider can sign: it alone has the private key (${scheme.kind})`);
  }
  return signHmac(scheme, key, values, { headers, url: draft.url }, now);
}

/** A condition about the header that will hold the proof is about to be true. */
function isForDraft(scheme: Scheme, values: TemplateValues): boolean {
  if (!('when' in scheme) || !scheme.when) return true;
  const proof = 'signature' in scheme ? scheme.signature.from : 'from' in scheme ? scheme.from : undefined;
  return ('has' in scheme.when && scheme.when.has === proof) || holds(scheme.when, values);
}

function signHmac(
  scheme: HmacScheme,
  key: string,
  values: TemplateValues,
  signed: SignedDraft,
  now: number,
): SignedDraft {
  const bytes = decodeHmacKey(scheme, key);
  if (!bytes) throw new RangeError(`the secret is empty or not ${scheme.key}`);
  values.secret = onTheWire(key);
  let draft = signed;
  if (scheme.timestamp) {
    const { from } = scheme.timestamp;
    if (from.startsWith('header:')) draft = place(from, formatTime(scheme.timestamp, now), draft);
    values.ts = /^(?:header|signature):/.test(from)
      ? formatTime(scheme.timestamp, now)
      : readSource(values, from);
    if (values.ts === undefined) throw new RangeError(`the body lacks the timestamp ${from}`);
  }
  const template = messagesOf(scheme)[0]!;
  const message = messageOf(template, values);
  if (!message.isComplete)
    throw new RangeError(`the provider signs ${template}, of which a part is not given`);
  const encoded = hmacOf(scheme.alg, bytes, message).toString(scheme.encoding);
  return place(scheme.signature.from, signatureText(scheme, encoded, values), draft);
}

function signatureText(
  { signature, timestamp }: HmacScheme,
  encoded: string,
  values: TemplateValues,
): string {
  const text = (signature.prefix ?? '') + encoded;
  if (!signature.pair) return text;
  const { separator, tag } = signature.pair;
  const tagged = `${renderText(tag, values) ?? ''}${separator}${text}`;
  if (!timestamp?.from.startsWith('signature:')) return tagged;
  const time = `${timestamp.from.slice('signature:'.length)}${separator}${values.ts}`;
  return `${time}${signature.list ?? ''}${tagged}`;
}

function place(source: string, value: string, { headers, url }: SignedDraft): SignedDraft {
  const name = source.slice(source.indexOf(':') + 1);
  if (source.startsWith('header:'))
    return { headers: { ...headers, [name.replace(/\*$/, '1')]: value }, url };
  if (source.startsWith('query:')) {
    const field = `${encodeURIComponent(name)}=${encodeURIComponent(Buffer.from(value, 'latin1').toString('utf8'))}`;
    return { headers, url: `${url}${url.includes('?') ? '&' : '?'}${field}` };
  }
  throw new RangeError(
    `the provider puts its proof inside the body (${source}): give a body that the provider signed`,
  );
}
