import type { EndpointConfig } from '../project-config.ts';
import { storableId } from '../providers/identify.ts';
import { headerLookupOf } from '../providers/request/header-lookup.ts';
import { readSource } from '../providers/request/read-source.ts';
import { viewOf, type ProviderRequest } from '../providers/request/request-view.ts';
import { credentialHeaders } from './forwarded-headers.ts';

/** The values of a webhook's keys, by the id of each ordered endpoint that it owes. */
export type OrderingKeys = Readonly<Record<string, string>>;

const headerPrefix = 'header:';
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const pointer = /^(?:\/(?:[^~/]|~[01])*)+$/;
const lengthMax = 255;

/** Why this is no ordering key of an endpoint; undefined when it is one. */
export function orderingKeyProblem(orderingKey: string): string | undefined {
  if (orderingKey.length > lengthMax) return `an ordering key has at most ${lengthMax} characters`;
  if (!orderingKey.startsWith(headerPrefix)) {
    return pointer.test(orderingKey)
      ? undefined
      : `"${orderingKey}" is neither a JSON Pointer such as /data/order_id nor header:Name`;
  }
  const name = orderingKey.slice(headerPrefix.length);
  if (!headerName.test(name)) return `"${name}" is not the name of a header`;
  return credentialHeaders.has(name.toLowerCase())
    ? `the header ${name} is a credential, which is never stored`
    : undefined;
}

/**
 * What the webhook's body or headers have for the ordering keys of the endpoints that it owes. A number is the text of its
 * digits, because a long one would be rounded; a value over 255 bytes is hashed. Without the value, or with an object, an array or
 * null in its place, the delivery is unordered. Undefined when all deliveries are.
 */
export function orderingKeysOf(
  endpoints: readonly Pick<EndpointConfig, 'id' | 'orderingKey'>[],
  owed: readonly string[],
  { request, headers }: { request: ProviderRequest; headers: readonly (readonly [string, string])[] },
): OrderingKeys | undefined {
  const ordered = endpoints.filter(({ id, orderingKey }) => orderingKey !== null && owed.includes(id));
  if (ordered.length === 0) return undefined;
  // Without credentials, which a key in a table must not contain.
  const { method, url, query, body } = request;
  const view = viewOf({ method, url, query, body, headers: headerLookupOf(headers) });
  const reading = { view, settings: {} };
  const entries = ordered.flatMap(({ id, orderingKey }) => {
    const value = readSource(reading, sourceOf(orderingKey!));
    return value ? [[id, storableId(value)] as const] : [];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function sourceOf(orderingKey: string): string {
  return orderingKey.startsWith(headerPrefix) ? orderingKey.toLowerCase() : `json:${orderingKey}`;
}
