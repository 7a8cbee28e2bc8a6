import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import type { AppProcess } from '@hqrelay/testing/app-process';
import { waitFor } from '@hqrelay/testing/wait-for';
import pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { openAppsWorld } from './apps-world.ts';
import { jsonOf } from './run-cli.ts';

const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
const blocksIn = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block);
const [, drill = ''] = runbook.split(/^## /m);
const [cause = '', figure = '', show = '', search = ''] = blocksIn(drill, 'sh');
const [failingEndpoints = '', failingWebhooks = ''] = blocksIn(drill, 'sql');

const world = await openAppsWorld();
const folder = makeThrowAwayFolder('hqrelay-drill-', inject('run').folder);
afterAll(() => removeThrowAwayFolder(folder));

type Row = Record<string, unknown>;

/** The rows that a query of the runbook returns to `hqrelay_reader`. */
async function ask(sql: string, variables: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const client = await world.sql.connect();
  try {
    await client.query('set role hqrelay_reader');
    const text = sql.replaceAll(/:'(\w+)'/g, (_, name: string) => pg.escapeLiteral(variables[name] ?? ''));
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.query('reset role');
    client.release();
  }
}

const filled = (text: string, values: Readonly<Record<string, string>>) =>
  text.replaceAll(/<([a-z ]+)>/g, (_, name: string) => values[name] ?? '');

/** The `npm run hqrelay` lines of a block, without the name of the program. */
const commandsIn = (block: string) =>
  [...block.matchAll(/^npm run hqrelay -- (.+)$/gm)].map(([, line = '']) => line.split(' '));

const shell = (command: string) => execFileSync('sh', ['-c', command], { encoding: 'utf8' });

function writeLog(name: string, { logs }: AppProcess): void {
  writeFileSync(join(folder, `${name}.log`), logs.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

describe('the first section of docs/runbook.md', () => {
  it('the commands lead from the failed attempts to the row and the log lines of the webhook', async () => {
    const project = await world.createProject();
    const [add = [], send = []] = commandsIn(filled(cause, { project }));
    const { endpointId } = jsonOf(await world.run(...add, '--json')) as { endpointId: string };
    const receiverPort = { RECEIVER_PORT: new URL(world.receiver.url).port };
    const sent = jsonOf(await world.runWith(receiverPort, [...send, '--json'])) as { id: string };
    const failing = await waitFor('three failed attempts', async () => {
      const rows = await ask(failingEndpoints);
      return rows[0]?.['failed'] === '3' && rows;
    });

    expect(shell(figure.replace('http://127.0.0.1:3001', world.worker.url))).toMatch(
      /^hqrelay_delivery_attempts_total\{outcome="failed"\} 2$/m,
    );
    expect(failing).toMatchObject([{ project_id: project, endpoint_id: endpointId }]);
    const webhooks = await ask(failingWebhooks, { endpoint_id: endpointId });
    expect(webhooks.map(({ webhook_log_id: id, attempt_num: num, status }) => [id, num, status])).toEqual([
      [sent.id, 3, 'dead_lettered'],
      [sent.id, 2, 'failed'],
      [sent.id, 1, 'failed'],
    ]);
    const [showWebhook = []] = commandsIn(filled(show, { webhook: sent.id }));
    const { stdout } = await world.run(...showWebhook);
    expect(stdout).toContain(`WEBHOOK ${sent.id}  queued`);
    expect(stdout).toContain('dead_lettered');
    const found = filled(search, { 'correlation id': String(webhooks[0]?.['correlation_id']) });
    const lines = await waitFor('the last line of the log', () => {
      writeLog('receiver', world.receiver);
      writeLog('worker', world.worker);
      const printed = shell(found.replaceAll('.hqrelay/logs', folder)).trim().split('\n');
      return printed.some((line) => line.includes('dead_lettered')) && printed;
    });
    const events = lines.map((line) => {
      const { msg, id, outcome } = JSON.parse(line) as { msg: string; id: string; outcome: string };
      return [msg, id, outcome];
    });
    expect(events).toEqual([
      ['webhook.received', sent.id, 'queued'],
      ['delivery.attempted', sent.id, 'failed'],
      ['delivery.attempted', sent.id, 'failed'],
      ['delivery.attempted', sent.id, 'dead_lettered'],
    ]);
  });
});

describe('docs/runbook.md', () => {
  it.each(blocksIn(runbook, 'sql'))('hqrelay_reader may run %s', async (sql) => {
    expect(Array.isArray(await ask(sql, { endpoint_id: '0199f1b2-5a00-7000-8000-000000000002' }))).toBe(true);
  });
});
