import { isIP } from 'node:net';
import { addressClass, containsAddress, parseAddress, parseCidr } from './address-class.ts';
import type { AddressClass, Cidr } from './address-class.ts';

/** Which addresses endpoints may live at; see `parsePolicy`. */
export type NetworkPolicy = { readonly allowPrivate: boolean; readonly allowed: readonly Cidr[] };

type EndpointUrlVerdict = { ok: true; url: URL } | { ok: false; reason: string };

export type AddressVerdict = { allowed: true } | { allowed: false; reason: string };

const urlLengthMax = 2048;

/** What `allowPrivate` opens: a machine's own networks, nothing that is reserved or shared with a cloud's metadata. */
const privateClasses: ReadonlySet<AddressClass> = new Set(['loopback', 'private', 'shared']);

/** What no setting opens: no endpoint lives there, and cloud metadata services answer on link-local addresses. */
const closedClasses: ReadonlySet<AddressClass> = new Set([
  'metadata',
  'link-local',
  'unspecified',
  'multicast',
  'broadcast',
]);

/**
 * The policy of ALLOW_PRIVATE_ENDPOINTS (for development) and ALLOW_ENDPOINT_CIDRS (private networks that endpoints
 * may live in). Throws RangeError naming a network that does not parse.
 */
export function parsePolicy(input: { allowPrivate: boolean; allowCidrs: readonly string[] }): NetworkPolicy {
  return { allowPrivate: input.allowPrivate, allowed: input.allowCidrs.map(parseCidr) };
}

/**
 * Whether a request may go to this address. Public ones are, special ones are not unless the policy says so, metadata
 * addresses never are. An address that stands for an IPv4 one (mapped, NAT64, 6to4) is judged as that one too.
 */
export function addressVerdict(policy: NetworkPolicy, ip: string): AddressVerdict {
  const address = parseAddress(ip);
  if (!address) return { allowed: false, reason: 'not an IP address' };
  const { kind, embedded } = addressClass(address);
  if (embedded) {
    const verdict = addressVerdict(policy, embedded.join('.'));
    return verdict.allowed
      ? verdict
      : { allowed: false, reason: `${ip}, which stands for ${verdict.reason}` };
  }
  if (kind === 'public') return { allowed: true };
  const isOpened =
    !closedClasses.has(kind) &&
    ((policy.allowPrivate && privateClasses.has(kind)) || isInAllowedNetwork(policy, address));
  if (isOpened) return { allowed: true };
  const article = kind === 'unspecified' ? 'an' : 'a';
  return { allowed: false, reason: `${ip}, which is ${article} ${kind} address` };
}

/**
 * Whether a URL can be an endpoint's: http or https, no credentials, no fragment. An IP address in it, in whatever
 * notation, is judged at once; a name's addresses are judged whenever a connection is made. Plain http goes only to
 * addresses of the allowed networks, or anywhere with `allowPrivate`.
 */
export function checkEndpointUrl(policy: NetworkPolicy, url: string): EndpointUrlVerdict {
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
    const verdict = addressVerdict(policy, ip);
    if (!verdict.allowed) return refuse(`the URL leads to ${verdict.reason}`);
  }
  if (parsed.protocol === 'http:' && !mayUsePlainHttp(policy, ip)) {
    return refuse('the URL is not https, which everything outside the allowed networks takes');
  }
  return { ok: true, url: parsed };
}

function refuse(reason: string): EndpointUrlVerdict {
  return { ok: false, reason };
}

function mayUsePlainHttp(policy: NetworkPolicy, ip: string | undefined): boolean {
  if (policy.allowPrivate) return true;
  const address = ip === undefined ? undefined : parseAddress(ip);
  return address !== undefined && isInAllowedNetwork(policy, address);
}

function isInAllowedNetwork(policy: NetworkPolicy, address: Uint8Array): boolean {
  return policy.allowed.some((cidr) => containsAddress(cidr, address));
}

/** The address a host is without any look-up. URL has already normalised decimal, octal and hexadecimal notation. */
function literalAddress(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return host;
  // RFC 6761: whatever the resolver says about these names, they mean this machine.
  return /(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : undefined;
}
