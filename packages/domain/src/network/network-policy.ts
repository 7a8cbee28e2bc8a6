import { isIP } from 'node:net';
import {
  addressClass,
  isAddress,
  isIn,
  parseNetworks,
  type AddressClass,
  type Networks,
} from './address-class.ts';

/** Which addresses endpoints may have; see `parsePolicy`. */
export type NetworkPolicy = { readonly allowPrivate: boolean; readonly allowed: Networks };

type EndpointUrlCheck = { ok: true; url: URL } | { ok: false; reason: string };

export type AddressCheck = { allowed: true } | { allowed: false; reason: string };

const urlLengthMax = 2048;

/** The classes that `allowPrivate` allows: private networks, and no class of reserved or metadata addresses. */
const privateClasses: ReadonlySet<AddressClass> = new Set(['loopback', 'private', 'shared']);

/** The classes that no setting allows: no endpoint has such an address, and cloud metadata services answer on link-local ones. */
const closedClasses: ReadonlySet<AddressClass> = new Set([
  'metadata',
  'link-local',
  'unspecified',
  'multicast',
  'broadcast',
]);

/**
 * The policy of ALLOW_PRIVATE_ENDPOINTS (for development) and ALLOW_ENDPOINT_CIDRS (private networks of
 * endpoints). Throws RangeError naming a network that does not parse.
 */
export function parsePolicy(input: { allowPrivate: boolean; allowCidrs: readonly string[] }): NetworkPolicy {
  return { allowPrivate: input.allowPrivate, allowed: parseNetworks(input.allowCidrs) };
}

/**
 * Whether a request may go to this address: to a public one always, to a special one if the policy opens it, to a metadata
 * service never. An address that stands for an IPv4 one (mapped, NAT64, 6to4) is checked as that one.
 */
export function checkAddress(policy: NetworkPolicy, ip: string): AddressCheck {
  if (!isAddress(ip)) return { allowed: false, reason: 'not an IP address' };
  const { kind, embedded } = addressClass(ip);
  if (embedded !== undefined) {
    const check = checkAddress(policy, embedded);
    return check.allowed ? check : { allowed: false, reason: `${ip}, which stands for ${check.reason}` };
  }
  if (kind === 'public') return { allowed: true };
  const isOpened =
    !closedClasses.has(kind) &&
    ((policy.allowPrivate && privateClasses.has(kind)) || isIn(policy.allowed, ip));
  if (isOpened) return { allowed: true };
  const article = kind === 'unspecified' ? 'an' : 'a';
  return { allowed: false, reason: `${ip}, which is ${article} ${kind} address` };
}

/**
 * Whether a URL can be an endpoint's: http or https, no credentials, no fragment. An IP address in it, in any
 * notation, is checked at once; a name's addresses are checked at each connection. Plain http goes only to addresses of
 * the allowed networks, or anywhere with `allowPrivate`.
 */
export function checkEndpointUrl(policy: NetworkPolicy, url: string): EndpointUrlCheck {
  if (url.length > urlLengthMax) return refuse(`the URL is longer than ${urlLengthMax} characters`);
  if (/[\p{Cc}\s\\]/u.test(url)) return refuse('the URL has white space, a backslash or a control character');
  if (!URL.canParse(url)) return refuse('not a URL');
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    return refuse('the URL is not http or https');
  if (parsed.username || parsed.password) {
    return refuse('the URL has credentials in it: give the endpoint a fixed header instead');
  }
  if (url.includes('#')) return refuse('the URL has a fragment, which no request carries');
  if (parsed.href.length > urlLengthMax)
    return refuse(`the encoded URL is longer than ${urlLengthMax} characters`);
  if (parsed.port === '0') return refuse('the URL has port 0');

  const ip = literalAddress(parsed.hostname);
  if (ip !== undefined) {
    const check = checkAddress(policy, ip);
    if (!check.allowed) return refuse(`the URL leads to ${check.reason}`);
  }
  if (parsed.protocol === 'http:' && !mayUsePlainHttp(policy, ip)) {
    return refuse('the URL is not https, which every address outside the allowed networks needs');
  }
  return { ok: true, url: parsed };
}

function refuse(reason: string): EndpointUrlCheck {
  return { ok: false, reason };
}

function mayUsePlainHttp(policy: NetworkPolicy, ip: string | undefined): boolean {
  if (policy.allowPrivate) return true;
  return ip !== undefined && isIn(policy.allowed, ip);
}

/** The address of a host that needs no look-up. URL has already normalised decimal, octal and hexadecimal notation. */
function literalAddress(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return host;
  // RFC 6761: these names mean this machine, even if a name server says otherwise.
  return /(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : undefined;
}
