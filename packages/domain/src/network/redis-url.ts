/** Where Redis is: one server, or the primary that a group of sentinels names. */
export type RedisAddress =
  | { kind: 'server'; url: string }
  | {
      kind: 'sentinel';
      sentinels: { host: string; port: number }[];
      /** The name under which the sentinels watch the primary. */
      master: string;
      /** For Redis, and for sentinels that ask for a password. */
      username: string | undefined;
      password: string | undefined;
      db: number;
    };

const sentinelPort = 26_379;
const sentinelForm =
  'must look like redis+sentinel://user:password@host:26379,host:26379/master/0 (user, password, ports and database are optional)';
const sentinelUrl =
  /^redis\+sentinel:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?#]+)\/(?<master>[^/?#@]+)(?:\/(?<db>\d{1,5})?)?$/i;
const sentinelHost = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?<name>[\w.-]+))(?::(?<port>\d{1,5}))?$/i;

/** Reads `redis://`, `rediss://` and `redis+sentinel://`. Throws a RangeError that says what it expects. */
export function parseRedisUrl(text: string): RedisAddress {
  if (/^redis\+sentinel:/i.test(text)) return parseSentinelUrl(text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'redis:' && url?.protocol !== 'rediss:') {
    throw new RangeError('must be a URL that starts with redis:// or rediss:// or redis+sentinel://');
  }
  if (url.hostname === '') throw new RangeError('must name a host');
  return { kind: 'server', url: text };
}

function parseSentinelUrl(text: string): RedisAddress {
  const { user, password, hosts, master, db } = sentinelUrl.exec(text)?.groups ?? {};
  if (hosts === undefined || master === undefined) throw new RangeError(sentinelForm);
  return {
    kind: 'sentinel',
    sentinels: hosts.split(',').map(parseSentinelHost),
    master: decode(master),
    username: user ? decode(user) : undefined,
    password: password ? decode(password) : undefined,
    db: Number(db ?? 0),
  };
}

function parseSentinelHost(text: string): { host: string; port: number } {
  const { ipv6, name, port } = sentinelHost.exec(text.trim())?.groups ?? {};
  const host = ipv6 ?? name;
  if (host === undefined || Number(port ?? sentinelPort) > 65_535) throw new RangeError(sentinelForm);
  return { host, port: Number(port ?? sentinelPort) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError(sentinelForm);
  }
}
