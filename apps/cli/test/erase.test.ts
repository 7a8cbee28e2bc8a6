import { holdWebhook } from '@hqrelay/testing/database/record-webhook';
import { waitFor } from '@hqrelay/testing/wait-for';
import { beforeEach, describe, expect, it } from 'vitest';
import { openAppsWorld, isInState } from './apps-world.ts';
import { die, receive } from './dead-letter-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openAppsWorld();
let projectId: string;
let endpointId: string;

beforeEach(async () => {
  ({ projectId, endpointId } = await world.createProjectWithEndpoint());
});

const erase = (id: string) => world.run('erase', id, '--reason', 'request 4711', '--json');

/** Every row of every table that contains the bytes of a webhook's payload or a header of it, by table. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await world.sql.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await world.sql.query(
      `select from "${name}" t where position($1 in t::text) > 0 or position($2 in t::text) > 0 limit 1`,
      [text, Buffer.from(text).toString('hex')],
    );
    if (rowCount) found.push(name);
  }
  return found;
}

describe('erase', () => {
  it('erase removes the payload of a delivered webhook, keeps its facts, and records who asked for it', async () => {
    const id = await world.send(projectId);
    await world.waitForWebhook(id, isInState('delivered'));

    expect(jsonOf(await erase(id))).toMatchObject({ id, payloadErased: true, heldDeliveries: 0 });

    const shown = jsonOf(await world.run('webhook', 'show', id, '--json'));
    expect(shown).toMatchObject({
      payload: null,
      deliveries: [{ state: 'delivered' }],
      attempts: [{ attemptNum: 1 }],
    });
    const { rows } = await world.sql.query(
      'select action, project_id, details from admin_log where target = $1',
      [id],
    );
    expect(rows).toEqual([
      {
        action: 'webhook.erase',
        project_id: projectId,
        details: {
          after: {
            reason: 'request 4711',
            payloads: 1,
            heldDeliveries: 0,
            outboxMessages: 0,
            deadLetterContents: 0,
          },
        },
      },
    ]);
    const replay = await world.run('replay', id);
    expect(replay).toMatchObject({ exitCode: 1 });
    expect(replay.stderr).toMatch(/cannot be replayed: its payload was erased at 20.* by cli:/);
    const again = await erase(id);
    expect(again).toMatchObject({ exitCode: 1 });
    expect(again.stderr).toMatch(/was erased at 20/);
  });

  it('erase removes a held message too, whose delivery becomes a dead letter that is not counted as open', async () => {
    await world.run('endpoint', 'pause', endpointId);
    const personal = {
      payload: Buffer.from('{"card":"planted-4242"}'),
      headers: [['X-Person', 'planted-4242']] as [string, string][],
    };
    const id = await receive(world, projectId, { endpointIds: [endpointId], payload: personal });
    // The delivery waits: nothing of it is in Postgres but the row that owes it.
    const waiting = await erase(id);
    expect(waiting.exitCode).toBe(1);
    expect(waiting.stderr).toMatch(/1 deliveries of the webhook .* wait in RabbitMQ.*nothing was erased/);
    expect(await tablesWith('planted-4242')).toEqual(['webhook_payloads']);
    await hold(id);
    expect((await tablesWith('planted-4242')).toSorted()).toEqual(['held_deliveries', 'webhook_payloads']);

    expect(jsonOf(await erase(id))).toMatchObject({ payloadErased: true, heldDeliveries: 1 });

    expect(await tablesWith('planted-4242')).toEqual([]);
    await world.waitForWebhook(id, isInState('dead_lettered'));
    const open = jsonOf(await world.run('dlq', 'list', '--json', '--endpoint', endpointId));
    expect(open).toEqual([]);
    const all = await world.run('dlq', 'list', '--all', '--endpoint', endpointId);
    expect(all.stdout).toMatch(/erased: request 4711.*\(erased or cancelled\)/);
    const refused = await world.run('dlq', 'replay', /[0-9a-f-]{36}/.exec(all.stdout)?.[0] ?? '');
    expect(refused.stderr).toMatch(/closed at .*: its payload was erased/);
  });

  it('erase closes an open dead letter, because it cannot be replayed any more', async () => {
    const { id } = await die(world, projectId, endpointId);
    expect(jsonOf(await erase(id))).toMatchObject({ payloadErased: true });
    expect(jsonOf(await world.run('dlq', 'list', '--json', '--endpoint', endpointId))).toEqual([]);
    const { stdout } = await world.run('webhook', 'show', id);
    expect(stdout).toMatch(/dead letter .*: HTTP 500 at attempt 6, the last; erased at 20/);
    expect(stdout).not.toContain('replayed at');
  });

  it('erase is refused while audit rows wait in the broker, and for a webhook that does not exist', async () => {
    const { id } = await die(world, projectId, endpointId);
    expect(
      (await world.runWith({ RABBITMQ_URL: 'amqp://127.0.0.1:1' }, ['erase', id, '--reason', 'r'])).stderr,
    ).toMatch(/nothing was erased: RabbitMQ may hold rows with the payload.*ECONNREFUSED/);
    expect((await world.run('erase', id)).exitCode).toBe(2);
    const unknown = await world.run('erase', '0199f1b2-5a00-7000-8000-000000000001', '--reason', 'r');
    expect(unknown.stderr).toMatch(/there is no webhook/);
    expect(await waitFor('the payload to be there', () => tablesWith('{"a":1}'))).toContain(
      'webhook_payloads',
    );
  });
});

/** Holds the delivery of a webhook with its message, as a worker does for a paused endpoint. */
async function hold(id: string): Promise<void> {
  const message = Buffer.from('message with planted-4242');
  const held = { webhookLogId: id, endpointId, reason: 'paused' as const, dueAt: Date.now(), message };
  await holdWebhook(world.sql, held, Date.now());
}
