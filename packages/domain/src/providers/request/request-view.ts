import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { HeaderLookup } from './header-lookup.ts';

/** A request as the engine reads it. */
export type ProviderRequest = {
  /** Upper case. */
  method: string;
  /** What the provider posted to: PUBLIC_URL with path and query, never the `Host` header. */
  url: string;
  /** Without the question mark. */
  query: string;
  headers: HeaderLookup;
  body: Buffer;
};

/** A JSON document twice: as it is, and with every number as the text of its literal digits. */
export type JsonDocument = { value: unknown; literal: () => unknown };

/** A request whose parts are parsed when they are first needed, once. */
export type RequestView = ProviderRequest & {
  /** Undefined for a body that is not JSON. */
  json(): JsonDocument | undefined;
  /** The fields of a form-encoded body; undefined beyond a thousand of them. */
  form(): Fields | undefined;
  queryFields(): Fields | undefined;
  bodySha256Hex(): string;
  hasUtf8Body(): boolean;
};

/** Names and values hold one character for each byte, as Node's headers do. */
export type Fields = ReadonlyMap<string, readonly string[]>;

const fieldsMax = 1_000;

export function viewOf(request: ProviderRequest): RequestView {
  return new LazyView(request);
}

/** A field for each part that was parsed: closures would cost each webhook as much memory as its headers. */
class LazyView implements RequestView {
  readonly method: string;
  readonly url: string;
  readonly query: string;
  readonly headers: HeaderLookup;
  readonly body: Buffer;
  #json: { document: JsonDocument | undefined } | undefined;
  #form: { fields: Fields | undefined } | undefined;
  #queryFields: { fields: Fields | undefined } | undefined;
  #bodySha256Hex: string | undefined;
  #hasUtf8Body: boolean | undefined;

  constructor({ method, url, query, headers, body }: ProviderRequest) {
    this.method = method;
    this.url = url;
    this.query = query;
    this.headers = headers;
    this.body = body;
  }

  json(): JsonDocument | undefined {
    this.#json ??= { document: parseJson(this) };
    return this.#json.document;
  }

  form(): Fields | undefined {
    this.#form ??= { fields: parseFields(this.body.toString('latin1')) };
    return this.#form.fields;
  }

  queryFields(): Fields | undefined {
    this.#queryFields ??= { fields: parseFields(this.query) };
    return this.#queryFields.fields;
  }

  bodySha256Hex(): string {
    return (this.#bodySha256Hex ??= hash('sha256', this.body));
  }

  hasUtf8Body(): boolean {
    return (this.#hasUtf8Body ??= isUtf8(this.body));
  }
}

function parseJson({ headers, body }: ProviderRequest): JsonDocument | undefined {
  const encoding = headers('content-encoding');
  if (encoding && encoding.toLowerCase() !== 'identity') return undefined;
  const withMark = body.toString('utf8');
  const text = withMark.startsWith('\ufeff') ? withMark.slice(1) : withMark;
  try {
    return { value: JSON.parse(text), literal: once(() => parseLiterally(text)) };
  } catch {
    return undefined;
  }
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Reads each number as a string of its digits: as a number, a long id would be rounded. The text is valid JSON. */
function parseLiterally(text: string): unknown {
  return JSON.parse(text.replace(stringOrNumber, (match) => (match.startsWith('"') ? match : `"${match}"`)));
}

function parseFields(text: string): Fields | undefined {
  const pairs = text.split('&', fieldsMax + 1);
  if (pairs.length > fieldsMax) return undefined;
  const fields = new Map<string, string[]>();
  for (const pair of pairs) {
    if (pair === '') continue;
    const end = pair.indexOf('=');
    const name = decodeField(end === -1 ? pair : pair.slice(0, end));
    const value = end === -1 ? '' : decodeField(pair.slice(end + 1));
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

function decodeField(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
