import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { freePorts } from '@hqrelay/services/free-port';
import { startPrivateNginx } from '@hqrelay/services/servers/private-nginx';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { createCertificates } from '@hqrelay/testing/certificates';

export type DoorRequest = {
  method?: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
  /** The address of the client, any of 127.0.0.0/8. */
  from?: string;
};

export type DoorAnswer = { statusCode: number; headers: IncomingHttpHeaders; text: string };

export type Door = {
  /** Sends a request over a keep-alive connection. */
  send: (request: DoorRequest) => Promise<DoorAnswer>;
  /** A TLS connection on which the test writes what it likes. */
  connect: (from?: string) => Promise<TLSSocket>;
  close: () => Promise<void>;
};

const name = 'hooks.example.com';

/** nginx with the configuration of `deploy/nginx` in front of receivers on these ports. */
export function openDoor(parentFolder: string, receiverPorts: readonly number[]): Promise<Door> {
  return open(parentFolder, { receiverPorts });
}

/** nginx with the configuration of `deploy/nginx` in front of a console on this port. */
export function openConsoleDoor(parentFolder: string, consolePort: number): Promise<Door> {
  return open(parentFolder, { receiverPorts: [consolePort], consolePort });
}

async function open(
  parentFolder: string,
  { receiverPorts, consolePort }: { receiverPorts: readonly number[]; consolePort?: number },
): Promise<Door> {
  const certificates = createCertificates();
  const { certificate: ca, certificateFile, keyFile } = certificates.issue(name);
  const folder = makeThrowAwayFolder('hqrelay-door-', parentFolder);
  const [receiversPort = 0, consoleDoorPort = 0] = await freePorts(2);
  const port = consolePort === undefined ? receiversPort : consoleDoorPort;
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const nginx = await startPrivateNginx({
    dir: folder,
    port: receiversPort,
    receiverPorts,
    ...(consolePort !== undefined && { console: { port: consoleDoorPort, consolePort } }),
    certificateFile,
    keyFile,
    say,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64, ca, servername: name });
  const sockets = new Set<TLSSocket>();
  return {
    send: (each) => send(agent, port, each),
    connect: (localAddress = '127.0.0.1') =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port, localAddress, ca, servername: name } as object);
        sockets.add(socket);
        socket.once('secureConnect', () => resolve(socket)).on('error', reject);
      }),
    close: async () => {
      agent.destroy();
      for (const socket of sockets) socket.destroy();
      await nginx.stop();
      certificates.remove();
      removeThrowAwayFolder(folder);
    },
  };
}

/** Rejects when the connection ends without an answer. */
function send(
  agent: Agent,
  port: number,
  { method = 'POST', path, headers, body, from }: DoorRequest,
): Promise<DoorAnswer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, agent, headers, localAddress: from };
    request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ statusCode: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on('error', reject);
    })
      .on('error', reject)
      .end(body);
  });
}
