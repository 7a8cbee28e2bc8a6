import { isIP, isIPv4, isIPv6 } from 'node:net';
import { emailAddressProblem } from '@hqrelay/domain/alerts/email-address';
import { parseRedisUrl } from '@hqrelay/domain/network/redis-url';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { z } from 'zod';

/**
 * A schema for the text of an environment variable. Its error is a sentence that names the expected format and never contains
 * the text, which may be a secret.
 */
function format<T>(parse: (text: string) => T) {
  return z.string().transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });
}

function parseUrl(text: string, protocols: readonly string[]): URL {
  const expected = `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  if (text !== text.trim() || !URL.canParse(text)) throw new RangeError(expected);
  const url = new URL(text);
  if (!protocols.includes(url.protocol)) throw new RangeError(expected);
  if (url.hostname === '' && !url.searchParams.has('host')) throw new RangeError('must name a host');
  return url;
}

function items(text: string): string[] {
  const list = text.split(',').map((item) => item.trim());
  if (list.includes('')) throw new RangeError('has an empty item in its comma-separated list');
  return list;
}

const subnet = z.union([z.cidrv4(), z.cidrv6()]);
const addressOrSubnet = z.union([z.ipv4(), z.ipv6(), subnet]);

/** An IP address, or one with a port: `10.0.0.2:5353`, `[fd00::53]:5353`. */
function isSocketAddress(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, bracketed = '', plain = '', port = ''] = /^(?:\[(.+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  return (isIPv6(bracketed) || isIPv4(plain)) && Number(port) >= 1 && Number(port) <= 65_535;
}

export function integer(min: number, max: number) {
  return format((text) => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw new RangeError(`must be a whole number from ${min} to ${max}`);
    }
    return value;
  });
}

export const flag = z.stringbool({
  truthy: ['true'],
  falsy: ['false'],
  case: 'sensitive',
  error: 'must be true or false',
});

export function oneOf<const T extends string>(values: readonly T[]) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/** A connection URL, kept as text because each client reads the query part in its own way. */
export function connectionUrl(...protocols: readonly string[]) {
  return format((text) => {
    parseUrl(text, protocols);
    return text;
  });
}

export function connectionUrls(...protocols: readonly string[]) {
  return format((text) => {
    const urls = items(text);
    for (const url of urls) parseUrl(url, protocols);
    return urls;
  });
}

export const redisUrl = format((text) => {
  parseRedisUrl(text);
  return text;
});

/** The base of a public address: `https://hooks.example.com/relay`, returned without a trailing slash. */
export const publicBaseUrl = format((text) => {
  const url = parseUrl(text, ['https:', 'http:']);
  if (url.search !== '' || url.hash !== '') throw new RangeError('must not have a query or a fragment');
  if (url.username !== '' || url.password !== '') throw new RangeError('must not contain credentials');
  return url.href.replace(/\/+$/, '');
});

/** `https://relay.example.com`: no path, because the pages and their scripts are at the root. */
export const publicOrigin = format((text) => {
  const url = parseUrl(text, ['https:', 'http:']);
  if (`${url.origin}/` !== url.href) {
    throw new RangeError('must be a scheme, a host and a port alone, such as https://relay.example.com');
  }
  return url.origin;
});

/** Sources of the `frame-ancestors` of a Content-Security-Policy. */
export const frameAncestors = format((text) => {
  const list = items(text);
  if (!list.every((item) => /^https?:\/\/(\*\.)?[\w.-]+(:\d{1,5})?$/.test(item))) {
    throw new RangeError(
      'must be a comma-separated list of origins such as https://backoffice.example.com or https://*.example.com',
    );
  }
  return list;
});

export const emailAddress = format((text) => {
  const problem = emailAddressProblem(text);
  if (problem !== undefined) throw new RangeError(problem);
  return text;
});

/** `alerts@example.com` or `Alerts <alerts@example.com>`. */
export const emailSender = format((text) => {
  const [, name = '', address = text] = /^([^<>"@,\p{Cc}]*)<([^<>]+)>$/u.exec(text) ?? [];
  if (emailAddressProblem(address) !== undefined || name.length > 100) {
    throw new RangeError('must be an address such as alerts@example.com or Alerts <alerts@example.com>');
  }
  return text;
});

export const secretKeys = format((text) => {
  parseSecretKeys(text);
  return text;
});

export const networks = format((text) => {
  const list = items(text);
  if (!list.every((item) => subnet.safeParse(item).success)) {
    throw new RangeError('must be a comma-separated list of networks such as 10.20.0.0/16 or fd00:12::/32');
  }
  return list;
});

export const nameServers = format((text) => {
  const list = items(text);
  if (!list.every(isSocketAddress)) {
    throw new RangeError('must be a comma-separated list of addresses such as 10.0.0.2 or [fd00::53]:5353');
  }
  return list;
});

const proxyNames = ['loopback', 'linklocal', 'uniquelocal'];

/**
 * A value of Express's `trust proxy`: no proxy, a number of hops, or a list of addresses and networks. `true` is refused: it
 * would trust any address that a client writes into X-Forwarded-For.
 */
export const trustedProxies = format((text): false | number | string[] => {
  if (text === 'false') return false;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const list = items(text);
  if (!list.every((item) => proxyNames.includes(item) || addressOrSubnet.safeParse(item).success)) {
    throw new RangeError(
      'must be false, a number of proxies (0 to 99), or a comma-separated list of addresses and networks ' +
        `(${proxyNames.join(', ')} are known names); true would trust any client's X-Forwarded-For`,
    );
  }
  return list;
});
