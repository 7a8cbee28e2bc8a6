import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../app-process.ts';
import { listens } from '../listens.ts';
import { runServer, type RunningServer } from '../running-server.ts';
import { ServerProcess } from '../process/server-process.ts';
import { installPackages, type Say } from './debian-packages.ts';

export type PrivateNginxOptions = {
  /** For its configuration, its logs and the bodies that arrive. Others may pass through it: nginx's workers are another user. */
  dir: string;
  port: number;
  /** The receivers' ports on 127.0.0.1. */
  receiverPorts: readonly number[];
  /** Serves the console on this port of 127.0.0.1, from the console's own port. */
  console?: { port: number; consolePort: number };
  certificateFile: string;
  keyFile: string;
  say: Say;
};

const program = '/usr/sbin/nginx';

/** Debian's nginx, installed where it is missing. Throws an error with the command to run where it cannot. */
export async function findNginx(say: Say): Promise<string> {
  if (!existsSync(program)) await installPackages(['nginx'], say);
  return program;
}

/** nginx with the configuration of `deploy/nginx` on 127.0.0.1; this server has its own files of the `site` folder alone. */
export async function startPrivateNginx(options: PrivateNginxOptions): Promise<RunningServer> {
  const { dir, port, say } = options;
  const command = await findNginx(say);
  writeConfiguration(options);
  const args = ['-c', join(dir, 'nginx.conf'), '-p', dir, '-g', `daemon off; pid ${join(dir, 'nginx.pid')};`];
  return runServer({ url: `https://127.0.0.1:${port}`, port }, async () => {
    const server = new ServerProcess({
      name: 'nginx',
      command,
      args,
      logFile: join(dir, 'nginx.log'),
      // On SIGQUIT nginx answers the requests in flight before it ends.
      stopSignal: 'SIGQUIT',
      parentDeathSignal: 'SIGTERM',
    });
    await server.waitUntil(() => listens(port), 60_000);
    return server;
  });
}

function writeConfiguration(options: PrivateNginxOptions): void {
  const { dir, port, receiverPorts, certificateFile, keyFile } = options;
  mkdirSync(join(dir, 'site'), { recursive: true });
  copyFileSync(join(repositoryRoot, 'deploy/nginx/nginx.conf'), join(dir, 'nginx.conf'));
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(dir, 'site', name), lines.map((line) => `${line};\n`).join(''));
  const modules = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  write('files.conf', [
    ...modules.map((name) => `${name}_temp_path ${join(dir, name)}`),
    `access_log ${join(dir, 'door.log')} door`,
  ]);
  const receivers = receiverPorts.map((each) => `server 127.0.0.1:${each}`);
  write('receivers.conf', [
    ...receivers.map((each) => `${each} max_fails=3 fail_timeout=2s`),
    ...receivers.map((each) => `${each} backup max_fails=0`),
  ]);
  write('server.conf', [
    `listen 127.0.0.1:${port} ssl backlog=4096`,
    `ssl_certificate ${certificateFile}`,
    `ssl_certificate_key ${keyFile}`,
  ]);
  if (options.console) writeFileSync(join(dir, 'site/console.conf'), consoleConfiguration(options));
}

/** The file of `deploy/nginx/site` with addresses and a certificate of this server. */
function consoleConfiguration({ console: served, certificateFile, keyFile }: PrivateNginxOptions): string {
  return readFileSync(join(repositoryRoot, 'deploy/nginx/site/console.conf'), 'utf8')
    .replace('listen 443 ssl', `listen 127.0.0.1:${served!.port} ssl`)
    .replace('listen [::]:443 ssl;', '')
    .replace('/etc/nginx/tls/fullchain.pem', certificateFile)
    .replace('/etc/nginx/tls/privkey.pem', keyFile)
    .replaceAll('http://127.0.0.1:3002', `http://127.0.0.1:${served!.consolePort}`);
}
