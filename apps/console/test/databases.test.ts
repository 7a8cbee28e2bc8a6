import { createLogger } from '@hqrelay/runtime/logger';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createConsole } from '../src/console.ts';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, env, createProject } = await openConsoleWorld();
const readOnly = (url: string) =>
  `${url}?options=${encodeURIComponent('-c default_transaction_read_only=on')}`;

it('lists come from DATABASE_READ_URL, which may be read-only, and changes from CONSOLE_DATABASE_URL', async () => {
  const replica = readOnly(env['CONSOLE_DATABASE_URL']!);
  const other = await openConsole({ ...env, DATABASE_READ_URL: replica });
  await waitFor('the console to be ready', async () => (await fetch(`${other}/health/ready`)).ok);
  const primary = await openConsole({ ...env, CONSOLE_DATABASE_URL: replica });
  const health = await waitFor('the refusal', async () => {
    const response = await fetch(`${primary}/health/ready`);
    const body = (await response.json()) as { dependencies: { postgres: { detail?: string } } };
    return body.dependencies.postgres.detail !== undefined && { status: response.status, body };
  });
  expect(health).toMatchObject({
    status: 503,
    body: { dependencies: { postgres: { detail: 'this Postgres is read-only' } } },
  });
});

async function openConsole(variables: Record<string, string>): Promise<string> {
  const opened = createConsole(readConfig({ ...variables, CONSOLE_PORT: '0' }), {
    logger: createLogger({ name: 'console', level: 'info' }, { write: () => {} }),
    isDraining: () => false,
  });
  opened.connect();
  afterAll(async () => {
    await opened.server.close(1_000);
    await opened.disconnect();
  });
  return `http://127.0.0.1:${await opened.server.listen(0)}`;
}

it('a list whose tables are locked is answered 503 within seconds, while changes are made', async () => {
  const projectId = await createProject();
  const locker = await sql.connect();
  try {
    await locker.query('begin; lock table webhook_logs in access exclusive mode');
    const lists = Array.from({ length: 6 }, () => get(`/api/v1/projects/${projectId}/webhooks`));
    const changed = await post('/api/v1/projects', { name: 'meanwhile' });
    expect(changed.statusCode).toBe(201);
    for (const answer of await Promise.all(lists)) {
      expect(answer).toMatchObject({ statusCode: 503, body: { error: { code: 'database.unavailable' } } });
      expect(answer.headers.get('retry-after')).toBe('5');
    }
  } finally {
    await locker.query('rollback');
    locker.release();
  }
  const after = await waitFor('the list', async () => {
    const answer = await get(`/api/v1/projects/${projectId}/webhooks`);
    return answer.statusCode === 200 && answer;
  });
  expect(after.body.items).toEqual([]);
});
