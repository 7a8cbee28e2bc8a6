import {
  frameAncestors,
  integer,
  oneOf,
  publicBaseUrl,
  publicOrigin,
  trustedProxies,
} from './env-formats.ts';
import { variable } from './variable.ts';

const port = integer(0, 65_535);

/** Where the apps listen, how they are reached, and what they accept. */
export const listeningVariables = {
  RECEIVER_PORT: variable({
    key: 'receiverPort',
    schema: port,
    whenUnset: { text: '3000' },
    shown: 'value',
    example: '3000',
    description: 'Where the receiver listens for webhooks. 0 takes any free port.',
  }),
  RECEIVER_ADMIN_PORT: variable({
    key: 'receiverAdminPort',
    schema: port,
    whenUnset: { value: undefined, meaning: 'served on RECEIVER_PORT' },
    shown: 'value',
    example: '9000',
    description: 'When set, the `/metrics` and `/health/ready` of the receiver answer only on this port.',
  }),
  WORKER_PORT: variable({
    key: 'workerPort',
    schema: port,
    whenUnset: { text: '3001' },
    shown: 'value',
    example: '3001',
    description: 'Where the worker answers `/health`, `/health/ready` and `/metrics`.',
  }),
  CONSOLE_PORT: variable({
    key: 'consolePort',
    schema: port,
    whenUnset: { text: '3002' },
    shown: 'value',
    example: '3002',
    description:
      'Where the console serves the HTTP API, `/health`, `/health/ready` and `/metrics`. 0 takes any free port.',
  }),
  CONSOLE_URL: variable({
    key: 'consoleUrl',
    schema: publicOrigin,
    whenUnset: { value: undefined, meaning: '`http://127.0.0.1:` and CONSOLE_PORT' },
    shown: 'value',
    example: 'https://relay.example.com',
    description:
      'The address under which browsers reach the console: the base of its sign-in links. With `https:` the cookies of ' +
      'sessions are sent over TLS only.',
  }),
  CONSOLE_FRAME_ANCESTORS: variable({
    key: 'consoleFrameAncestors',
    schema: frameAncestors,
    whenUnset: { value: [], meaning: 'no page may embed the console' },
    shown: 'value',
    example: 'https://backoffice.example.com',
    description:
      'The origins whose pages may embed the console in a frame, separated by commas; `https://*.example.com` names every ' +
      'sub-domain. Needs a CONSOLE_URL with `https:`, because browsers keep the cookies of an embedded page over TLS only.',
  }),
  PUBLIC_URL: variable({
    key: 'publicUrl',
    schema: publicBaseUrl,
    whenUnset: { value: undefined, meaning: '`http://127.0.0.1:` and RECEIVER_PORT' },
    shown: 'value',
    example: 'https://hooks.example.com',
    description:
      'The address under which providers reach the receiver: the base of the webhook URLs that the command ' +
      'line tool prints, and of the URL that some providers sign.',
  }),
  RECEIVER_URL: variable({
    key: 'receiverUrl',
    schema: publicBaseUrl,
    whenUnset: { value: undefined, meaning: '`http://127.0.0.1:` and RECEIVER_PORT' },
    shown: 'value',
    example: 'http://receiver:3000',
    description:
      'Where `hqrelay send` posts: the receiver as the machine of the command line tool reaches it.',
  }),
  TRUST_PROXY: variable({
    key: 'trustProxy',
    schema: trustedProxies,
    whenUnset: { text: 'false' },
    shown: 'value',
    example: '1',
    description:
      'The proxies whose `X-Forwarded-For` is believed when a remote address is recorded or limited: `false` (none), the ' +
      'number of proxies in front, or a comma-separated list of their addresses and networks. Without it all clients behind a ' +
      'proxy share its address, and the limits of one address.',
  }),
  LOG_LEVEL: variable({
    key: 'logLevel',
    schema: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    whenUnset: { text: 'info' },
    shown: 'value',
    example: 'info',
    description:
      '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Logs are JSON lines on stdout.',
  }),
  BODY_BYTES_MAX: variable({
    key: 'bodyBytesMax',
    // A broker message must stay below RabbitMQ 4's limit of 16 MiB, headers and envelope included.
    schema: integer(1, 8_388_608),
    whenUnset: { text: '1048576' },
    shown: 'value',
    unit: 'bytes',
    example: '1048576',
    description:
      'The largest body the receiver takes; a larger one is answered 413. At most 8388608. The worker bounds its memory ' +
      'by it: give both the same.',
  }),
  DELIVERY_TIMEOUT_MS: variable({
    key: 'deliveryTimeoutMs',
    schema: integer(100, 30_000),
    whenUnset: { text: '10000' },
    shown: 'value',
    unit: 'milliseconds',
    example: '10000',
    description:
      'The timeout of an endpoint that is added without `--timeout`: how long one attempt may take, from waiting ' +
      'for a connection to the last byte of the answer. 100 to 30000. Endpoints that exist keep theirs.',
  }),
  CONFIG_CACHE_TTL_SECONDS: variable({
    key: 'configCacheTtlSeconds',
    schema: integer(1, 86_400),
    whenUnset: { text: '300' },
    shown: 'value',
    unit: 'seconds',
    example: '300',
    description:
      'How long the configuration of a project stays in Redis. A change is announced to every process at once; ' +
      'this bounds how long a process that misses the announcement uses the old one.',
  }),
} as const;
