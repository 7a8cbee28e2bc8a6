import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { dataFolderFor, runsAsRoot } from './data-folder.ts';
import { findProgram } from '../programs.ts';
import { runServer, type RunningServer } from '../running-server.ts';
import { ServerProcess } from '../process/server-process.ts';
import { setprivPrefix } from '../process/setpriv.ts';

export type PrivatePostgresOptions = {
  dir: string;
  port: number;
  /** False: a crash of the machine may lose commits. For tests that do not crash it. */
  durable: boolean;
  /** Further settings, as `name=value`. */
  settings?: readonly string[];
};

const user = 'hqrelay_owner';

/** Postgres on 127.0.0.1, its data in `dir`. The URL is the owner's. */
export async function startPrivatePostgres(options: PrivatePostgresOptions): Promise<RunningServer> {
  const { port } = options;
  const binaries = findPostgresBinaries();
  if (!binaries) throw new Error('Postgres is not installed');
  const asUser = runsAsRoot() ? 'postgres' : undefined;
  if (asUser) dataFolderFor(options.dir, asUser);
  else mkdirSync(options.dir, { recursive: true });
  // Without links in folders that the server's user may not enter.
  const dir = realpathSync(options.dir);
  const data = join(dir, 'data');
  const password = initialize({ ...options, dir }, data, (program, args, input = '') => {
    const [command = '', ...rest] = [...setprivPrefix('SIGTERM', asUser), join(binaries, program), ...args];
    execFileSync(command, rest, { input, stdio: ['pipe', 'ignore', 'pipe'], cwd: '/' });
  });
  const settings = settingsOf({ ...options, dir }, data);
  const url = `postgres://${user}:${password}@127.0.0.1:${port}/postgres`;
  return runServer({ url, port }, async () => {
    const server = new ServerProcess({
      name: 'Postgres',
      command: join(binaries, 'postgres'),
      args: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      logFile: join(dir, 'postgres.log'),
      // Fast shutdown: the server ends its connections and writes everything to disk.
      stopSignal: 'SIGINT',
      user: asUser,
      cwd: '/',
    });
    await server.waitUntil(() => answers(url), 120_000);
    return server;
  });
}

/** Makes the data folder and the owner's password where they are missing. Returns the password. */
function initialize(
  { dir, durable }: PrivatePostgresOptions,
  data: string,
  run: (program: string, args: readonly string[], input?: string) => void,
): string {
  if (!existsSync(join(data, 'PG_VERSION'))) {
    const encoding = ['-E', 'UTF8', '--locale=C.UTF-8'];
    run('initdb', ['-D', data, '-U', user, '-A', 'trust', ...encoding, ...(durable ? [] : ['--no-sync'])]);
  }
  return persistentPassword(join(dir, 'password'), (made) => {
    const fsync = durable ? 'on' : 'off';
    const args = ['--single', '-D', data, '-c', `fsync=${fsync}`, 'postgres'];
    run('postgres', args, `alter role ${user} password '${made}'`);
  });
}

function settingsOf({ dir, port, durable, settings = [] }: PrivatePostgresOptions, data: string): string[] {
  const hbaFile = join(dir, 'pg_hba.conf');
  writeFileSync(hbaFile, 'local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n');
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${data}`,
    `hba_file=${hbaFile}`,
    'max_connections=200',
    'logging_collector=off',
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
    ...settings,
  ];
}

/** The password in the file, or a new one after `set` has given it to the server, also where the data is older than the file. */
function persistentPassword(file: string, set: (password: string) => void): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const password = randomBytes(16).toString('hex');
  set(password);
  writeFileSync(file, password, { mode: 0o600 });
  return password;
}

/** The folder with `postgres` and `initdb`, of the newest version installed. */
export function findPostgresBinaries(): string | undefined {
  const initdb = findProgram('initdb', installedInitdb);
  return initdb && dirname(initdb);
}

function installedInitdb(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root)
    ? readdirSync(root).filter((name) => existsSync(join(root, name, 'bin', 'initdb')))
    : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest && join(root, newest, 'bin', 'initdb');
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // The server may end the connection while it starts; the call in progress then rejects.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } finally {
    // A connection that broke is closed already.
    await client.end().catch(() => {});
  }
}
