/** What failures of this kind usually mean, and what to try. `error` as the worker records it. */
export function explainFailure({
  statusCode,
  error,
}: {
  statusCode: number | null;
  error: string | null;
}): string {
  if (statusCode !== null) return byStatusCode.get(statusCode) ?? byStatusClass(statusCode);
  return (
    byError.find(([pattern]) => pattern.test(error ?? ''))?.[1] ?? 'The request got no answer: see the error.'
  );
}

const unauthorised =
  'The endpoint refuses who is calling: compare the credentials and the signing secret that it expects with those of the endpoint here.';
const stopped =
  'The server of the endpoint, or one behind it, is down or restarting: look at its deployments and logs.';

const byStatusCode: ReadonlyMap<number, string> = new Map([
  [400, 'The endpoint does not accept the request: compare the body with what its code parses.'],
  [401, unauthorised],
  [403, unauthorised],
  [404, 'Nothing is at this path: compare the URL with the routes of the application.'],
  [405, 'The path does not take POST: compare the URL with the routes of the application.'],
  [408, 'The endpoint waited too long for the request: look at proxies in front of it.'],
  [413, 'The body is larger than the endpoint takes: raise the limit of its server or proxy.'],
  [415, 'The endpoint does not take the content type of the provider.'],
  [422, 'The endpoint does not accept the content: its validation refuses the body.'],
  [429, 'The endpoint limits how many requests it takes: raise its limit for the relay.'],
  [500, 'The code of the endpoint failed: look at its log at this time.'],
  [502, stopped],
  [503, stopped],
  [504, 'A proxy in front of the endpoint got no answer from it in time: the application is slow or stuck.'],
]);

function byStatusClass(statusCode: number): string {
  if (statusCode >= 300 && statusCode < 400) {
    return 'The endpoint redirects, and the relay follows no redirect: give the endpoint its final URL.';
  }
  return statusCode >= 500
    ? 'The server of the endpoint failed: look at its log at this time.'
    : 'The endpoint refuses the request: see its answer.';
}

const byError: readonly (readonly [RegExp, string])[] = [
  [/connection refused/, 'Nothing listens at this address: the server is down, or the port is wrong.'],
  [/timed out .*(connecting|TLS)/, 'The host does not answer: it is down, or a firewall drops the packets.'],
  [
    /timed out .*free connection/,
    'The endpoint answers too slowly for its traffic: its requests wait for each other.',
  ],
  [
    /timed out/,
    'The endpoint takes longer than its timeout: answer first, then do the work, or raise the timeout.',
  ],
  [
    /host name (not found|has no address)/,
    'The host has no DNS record: the name is wrong, or the record was removed.',
  ],
  [/name server/, 'The name servers of the relay do not resolve the host: look at DNS.'],
  [/certificate has expired/, 'The TLS certificate of the endpoint has expired: renew it.'],
  [/client certificate/, 'The endpoint wants a TLS client certificate: give the endpoint the right one.'],
  [/TLS|handshake/, 'TLS with the endpoint fails: look at its certificate and its protocol versions.'],
  [
    /connection (reset|closed)/,
    'The endpoint closes connections: it restarts, crashes, or its proxy ends idle connections.',
  ],
  [/unreachable|not reachable/, 'The relay has no route to the host: look at the network.'],
  [/not allowed/, 'The address is not allowed: see ALLOW_ENDPOINT_CIDRS in docs/configuration.md.'],
  [/not valid HTTP/, 'Something else than an HTTP server answers at this address.'],
  [/too large/, 'The answer of the endpoint is too large.'],
];
