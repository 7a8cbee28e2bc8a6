import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';

/**
 * Asks an HTTP proxy for a connection to `hostname` and `port`. It has no deadline: the returned function gives up.
 */
export function openTunnel(
  proxy: URL,
  hostname: string,
  port: number,
  onError: (error: Error) => void,
  onTunnel: (socket: Socket) => void,
): () => void {
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  const request = requestConnect(proxy, authority);
  request.once('connect', ({ statusCode }, socket: Socket, head) => {
    if (statusCode === 200) {
      if (head.length > 0) socket.unshift(head);
      onTunnel(socket);
    } else {
      socket.destroy();
      const refused = new Error(`the egress proxy answered ${statusCode} to CONNECT`);
      onError(Object.assign(refused, { code: 'PROXY_REFUSED' }));
    }
  });
  request.on('error', (error) => {
    onError(Object.assign(new Error(`egress proxy: ${error.message}`), { code: 'PROXY_UNAVAILABLE' }));
  });
  request.end();
  return () => request.destroy();
}

function requestConnect(proxy: URL, authority: string): http.ClientRequest {
  const authorization = proxyAuthorizationOf(proxy);
  return (proxy.protocol === 'https:' ? https : http).request({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || undefined,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: {
      host: authority,
      ...(authorization !== undefined && { 'proxy-authorization': authorization }),
    },
  });
}

/** The value of `proxy-authorization`; undefined where the URL of the proxy has no credentials. */
export function proxyAuthorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
