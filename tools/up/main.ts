// `npm run up`, after the bootstrap has installed and built: services, schema, apps, and one webhook through them all.
import { mkdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { AppProcess, repositoryRoot as root, type AppName } from '@hqrelay/services/app-process';
import { findServices } from '@hqrelay/services/find/find-services';
import { tryLock } from '../bootstrap/folder-lock.mjs';
import { checkPort } from './check-port.ts';
import { commandLine, type CommandLine } from './command-line.ts';
import { flakyEventType, prepareDemo, type Demo } from './demo.ts';
import { writeEnvironment } from './environment.ts';
import { LogDisplay } from './log-display.ts';
import { sentenceOf, StopList } from './stop-list.ts';
import { formatWebhook } from './format-webhook.ts';

const dir = `${root}.hqrelay`;
const readyWithinMs = 60_000;
const deliveredWithinMs = 30_000;

const say = (line: string) => process.stdout.write(`${line}\n`);
const title = (line: string) => say(`\n${line}`);
const detail = (line: string) => say(`  ${line}`);
const stops = new StopList(say);
const apps: AppProcess[] = [];
const logs = new LogDisplay(process.stdout);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopOrKill);
try {
  await up();
} catch (error) {
  await stops.stopAll(sentenceOf(error), 1);
}

async function up(): Promise<void> {
  const startedAt = performance.now();
  process.chdir(root);
  mkdirSync(`${dir}/logs`, { recursive: true });
  lockFolder();
  const { receiverPort, receiverAdminPort, workerPort, consolePort } = loadConfig(
    ['RECEIVER_PORT', 'RECEIVER_ADMIN_PORT', 'WORKER_PORT', 'CONSOLE_PORT'],
    process.env,
  );
  await checkPort('RECEIVER_PORT', receiverPort);
  await checkPort('WORKER_PORT', workerPort);
  await checkPort('CONSOLE_PORT', consolePort);

  title('Services');
  const finding = findServices({ root, dir, env: process.env, say: detail });
  // Its servers are known only when it has ended, so a stop waits for that.
  stops.add('services', async () => (await finding.catch(() => undefined))?.stop());
  const { urls } = await finding;
  if (stops.isStopping) return;
  const env = writeEnvironment(`${dir}/env`, process.env, urls);

  title('Schema');
  const hqrelay = commandLine(env);
  const { notices } = await hqrelay<{ notices: string[] }>('migrate');
  for (const notice of notices) detail(notice);
  detail('up to date');

  title('Apps');
  await Promise.all([
    startApp('receiver', receiverPort, receiverAdminPort ?? receiverPort, env),
    startApp('worker', workerPort, workerPort, env),
    startApp('console', consolePort, consolePort, env),
  ]);

  const demo = await showDemo(hqrelay, urls.DATABASE_URL);

  title(`HQRelay is up after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  const ports = {
    receiverPort,
    receiverAdminPort: receiverAdminPort ?? receiverPort,
    workerPort,
    consolePort,
  };
  const link = await hqrelay<{ url: string }>('console', 'link');
  sayNextSteps(ports, demo.projectId, link.url);
  logs.showAll();
}

/** Makes the demo project where it is missing, and sends two webhooks through it. */
async function showDemo(hqrelay: CommandLine, databaseUrl: string): Promise<Demo> {
  title('Demo');
  const demo = await prepareDemo(hqrelay, detail);
  stops.add('demo endpoint', demo.endpoint.close);
  detail(`${demo.isNew ? 'created' : 'found'} the project "demo", ${demo.projectId}`);
  detail(`its endpoints are served by this process at ${demo.endpoint.origin}`);
  await showWebhook(hqrelay, demo, databaseUrl, '/demo');
  title('A second webhook, to an endpoint that fails twice');
  await showWebhook(hqrelay, demo, databaseUrl, '/demo/flaky', '--event-type', flakyEventType);
  return demo;
}

/** Keeps a second `npm run up` out of this folder until this process ends. */
function lockFolder(): void {
  const lock = tryLock(`${dir}/up.lock`);
  if (lock.kind === 'held') {
    throw new Error(
      `npm run up runs in this folder already, as process ${lock.pid}: end that one first, with Ctrl-C or "kill ${lock.pid}".`,
    );
  }
  process.once('exit', lock.release);
}

/** Sends a webhook, waits until it is delivered, and shows its rows. */
async function showWebhook(
  hqrelay: CommandLine,
  { projectId, endpoint }: Demo,
  databaseUrl: string,
  path: string,
  ...options: string[]
): Promise<void> {
  const sent = await hqrelay<{ id: string; latencyMs: number }>('send', '--project', projectId, ...options);
  detail(`sent a signed webhook to the receiver: 202 after ${sent.latencyMs} ms, id ${sent.id}`);
  await within(deliveredWithinMs, `the webhook to reach ${path}`, endpoint.received(sent.id, path));
  title('This webhook in the tables');
  say(await formatWebhook(databaseUrl, sent.id));
}

/** Resolves when the app is ready. When the app ends by itself, then or later, everything is stopped. */
async function startApp(
  name: AppName,
  port: number,
  adminPort: number,
  env: Record<string, string>,
): Promise<void> {
  const logFile = `.hqrelay/logs/${name}.log`;
  const app = new AppProcess({
    app: name,
    from: { kind: 'built', folder: root },
    port,
    adminPort,
    env: { ...process.env, ...env },
    logFile,
    onLine: (line) => logs.show(line),
  });
  app.start();
  apps.push(app);
  stops.add(name, () => app.end());
  void app.ended().then(({ code, lastLines }) => {
    const how = code === null ? 'was ended by a signal' : `ended with exit code ${code}`;
    return stops.stopAll([`The ${name} ${how}. Its last lines:`, ...lastLines].join('\n  '), 1);
  });
  await app.waitUntilReady(readyWithinMs);
  detail(`${name} on port ${port}, its log in ${logFile}`);
}

function sayNextSteps(
  ports: Record<`${AppName}Port` | 'receiverAdminPort', number>,
  projectId: string,
  signInUrl: string,
): void {
  detail(`console   ${signInUrl}`);
  detail(
    '          The link signs one browser in, within the hour. Another: npm run hqrelay -- console link',
  );
  const at = (name: keyof typeof ports, path: string) => `http://127.0.0.1:${ports[name]}${path}`;
  detail(`webhooks  ${at('receiverPort', '/v1/webhooks/PROJECT_ID')}`);
  detail(`health    ${at('receiverAdminPort', '/health/ready')}`);
  const processes = ['receiverAdminPort', 'workerPort', 'consolePort'] as const;
  detail(`metrics   ${processes.map((port) => at(port, '/metrics')).join(' ')}`);
  detail('          Prometheus and Grafana: deploy/prometheus, deploy/grafana; docker-compose.yml runs both');
  detail(`HTTP API  ${at('consolePort', '/api/docs')}`);
  title('Next, in another terminal');
  detail(`npm run hqrelay -- send --project ${projectId}`);
  detail('npm run hqrelay -- project create --name mine');
  detail('npm run hqrelay -- endpoint add --project PROJECT_ID --url http://127.0.0.1:8080/');
  detail('npm run hqrelay -- webhook list --project PROJECT_ID');
  detail('npm run hqrelay -- api-key create --name mine --role admin');
  detail('(. ./.hqrelay/env && psql "$DATABASE_URL")');
  say('\nREADME.md has the next steps. Ctrl-C stops everything. The logs of the apps follow:\n');
}

async function within(timeoutMs: number, what: string, work: Promise<unknown>): Promise<void> {
  const timedOut = async () => {
    await wait(timeoutMs, undefined, { ref: false });
    throw new Error(`Waited ${timeoutMs / 1000} s for ${what}, which did not happen.`);
  };
  await Promise.race([work, timedOut()]);
}

/** A second signal kills the apps instead of waiting for them. */
function stopOrKill(): void {
  if (stops.isStopping) for (const app of apps) void app.end('SIGKILL');
  else void stops.stopAll('Stopping:', 0);
}
