import { open, parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { beforeAll, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

type Added = { endpointId: string; signingSecret: string };
type Endpoint = { id: string; url: string; eventTypes: string[]; retrySchedule: string[] };

const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057';

const world = await openCliWorld();
let projectId: string;
beforeAll(async () => {
  projectId = await world.createProject();
});
const add = async (...options: string[]) => {
  const fixed = ['--project', projectId, '--url', 'https://endpoint.example/hook', '--json'];
  return jsonOf(await world.run('endpoint', 'add', ...fixed, ...options)) as Added;
};

const find = async (endpointId: string) => {
  const endpoints = jsonOf(
    await world.run('endpoint', 'list', '--project', projectId, '--json'),
  ) as Endpoint[];
  return endpoints.find(({ id }) => id === endpointId);
};

describe('endpoint add', () => {
  it('endpoint add prints the id and the signing secret alone, and stores the default settings', async () => {
    const added = await add();
    expect(Object.keys(added)).toEqual(['endpointId', 'signingSecret']);
    expect(added.signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await find(added.endpointId)).toMatchObject({
      projectId,
      url: 'https://endpoint.example/hook',
      eventTypes: [],
      retrySchedule: ['5s', '30s', '5m', '30m', '1h'],
      timeoutMs: 10_000,
      enabled: true,
      paused: false,
      orderingKey: null,
      forwardCredentials: false,
      hasHeaders: false,
    });
  });

  it('endpoint add stores the event types, schedule, timeout and credential forwarding that are given', async () => {
    const { endpointId } = await add(
      '--events',
      'payment.*, order.paid',
      '--retry',
      '1s,2s',
      '--timeout',
      '5s',
      '--forward-credentials',
    );
    expect(await find(endpointId)).toMatchObject({
      eventTypes: ['payment.*', 'order.paid'],
      retrySchedule: ['1s', '2s'],
      timeoutMs: 5_000,
      forwardCredentials: true,
    });
  });

  it('endpoint add takes the timeout from DELIVERY_TIMEOUT_MS when none is given', async () => {
    const outcome = await world.runWith({ DELIVERY_TIMEOUT_MS: '7000' }, [
      'endpoint',
      'add',
      '--project',
      projectId,
      '--url',
      'https://endpoint.example',
      '--json',
    ]);
    expect(await find((jsonOf(outcome) as Added).endpointId)).toMatchObject({ timeoutMs: 7_000 });
  });

  it('endpoint add stores the signing secret and the fixed headers sealed, bound to their rows', async () => {
    const { endpointId, signingSecret } = await add(
      '--header',
      'Authorization: Bearer abc',
      '--header',
      'X-B: 1',
    );
    const { rows } = await world.sql.query(
      `select e.sealed_headers, e.headers_key_id, s.id, s.sealed, s.key_id
       from endpoints e join endpoint_secrets s on s.endpoint_id = e.id where e.id = $1`,
      [endpointId],
    );
    expect(rows).toHaveLength(1);
    const [row] = rows;
    const keys = parseSecretKeys(world.env['HQRELAY_SECRETS_KEY']!);
    expect(open(keys, { keyId: row.key_id, sealed: row.sealed }, `endpoint_secrets:${row.id}`)).toBe(
      signingSecret,
    );
    const box = { keyId: row.headers_key_id, sealed: row.sealed_headers };
    expect(JSON.parse(open(keys, box, `endpoints.headers:${endpointId}`))).toEqual([
      ['Authorization', 'Bearer abc'],
      ['X-B', '1'],
    ]);
    expect(await find(endpointId)).toMatchObject({ hasHeaders: true });
  });

  it('endpoint add accepts a private address only with ALLOW_PRIVATE_ENDPOINTS or ALLOW_ENDPOINT_CIDRS', async () => {
    const argv = ['endpoint', 'add', '--project', projectId, '--url', 'http://10.1.2.3/', '--json'];
    expect(await world.runWith({ ALLOW_PRIVATE_ENDPOINTS: 'false' }, argv)).toMatchObject({ exitCode: 2 });
    const inNetwork = { ALLOW_PRIVATE_ENDPOINTS: 'false', ALLOW_ENDPOINT_CIDRS: '10.1.0.0/16' };
    expect(await world.runWith(inNetwork, argv)).toMatchObject({ exitCode: 0 });
    expect(await world.runWith({ ALLOW_PRIVATE_ENDPOINTS: 'true' }, argv)).toMatchObject({ exitCode: 0 });
  });

  it('endpoint add fails for a project that does not exist', async () => {
    const outcome = await world.run(
      'endpoint',
      'add',
      '--project',
      unknownId,
      '--url',
      'https://a.example',
      '--json',
    );
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('there is no project');
  });

  it('endpoint add announces a change of the project', async () => {
    const announced = await world.announcements();
    await add();
    await expect.poll(() => announced.has(projectId)).toBe(true);
  });
});

describe('endpoint update', () => {
  it('endpoint add stores the ordering key, endpoint update changes and removes it', async () => {
    const { endpointId } = await add('--ordering-key', '/order_id', '--on-dead-letter', 'hold');
    expect(await find(endpointId)).toMatchObject({ orderingKey: '/order_id', onDeadLetter: 'hold' });
    await world.run('endpoint', 'update', endpointId, '--ordering-key', 'header:X-Order-Id');
    expect(await find(endpointId)).toMatchObject({ orderingKey: 'header:X-Order-Id', onDeadLetter: 'hold' });
    await world.run('endpoint', 'update', endpointId, '--no-ordering-key', '--on-dead-letter', 'continue');
    expect(await find(endpointId)).toMatchObject({ orderingKey: null, onDeadLetter: 'continue' });
  });

  it('endpoint update changes the given settings and no others', async () => {
    const { endpointId } = await add('--events', 'a', '--header', 'X-A: 1');
    await world.run(
      'endpoint',
      'update',
      endpointId,
      '--url',
      'https://b.example',
      '--retry',
      'standard-webhooks',
    );
    const changed = await find(endpointId);
    expect(changed).toMatchObject({
      url: 'https://b.example',
      eventTypes: ['a'],
      hasHeaders: true,
    });
    expect(changed?.retrySchedule).toHaveLength(9);
  });

  it('endpoint update removes each setting whose option is negated', async () => {
    const { endpointId } = await add('--header', 'X-A: 1', '--forward-credentials');
    const outcome = await world.run(
      'endpoint',
      'update',
      endpointId,
      '--json',
      '--no-header',
      '--no-forward-credentials',
    );
    expect(jsonOf(outcome)).toMatchObject({
      hasHeaders: false,
      forwardCredentials: false,
    });
  });

  it('endpoint update fails for an endpoint that does not exist', async () => {
    const outcome = await world.run('endpoint', 'update', unknownId, '--events', '*');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('there is no endpoint');
  });
});

describe('endpoint pause, resume, disable and enable', () => {
  it('endpoint pause, resume, disable and enable set the flags and the disabled reason', async () => {
    const { endpointId } = await add();
    const run = async (...argv: string[]) => jsonOf(await world.run('endpoint', ...argv, '--json'));
    expect(await run('pause', endpointId)).toMatchObject({ paused: true, enabled: true });
    expect(await run('disable', endpointId, '--reason', 'moved away')).toMatchObject({
      paused: true,
      enabled: false,
      disabledReason: 'moved away',
    });
    expect(await run('resume', endpointId)).toMatchObject({ paused: false, enabled: false });
    expect(await run('enable', endpointId)).toMatchObject({ enabled: true, disabledReason: null });
    expect(await run('disable', endpointId)).toMatchObject({ disabledReason: 'disabled by an operator' });
  });
});

describe('an endpoint with held deliveries', () => {
  it('endpoint resume --rate sets a release rate that persists, and refuses an invalid one', async () => {
    const { endpointId } = await add();
    const run = async (...argv: string[]) => jsonOf(await world.run('endpoint', ...argv, '--json'));
    expect(await run('resume', endpointId)).toMatchObject({ releaseRate: 100 });
    expect(await run('resume', endpointId, '--rate', '250')).toMatchObject({ releaseRate: 250 });
    expect(await run('enable', endpointId)).toMatchObject({ releaseRate: 250 });
    expect((await world.run('endpoint', 'resume', endpointId)).stdout).toContain('250 a second');
    for (const rate of ['0', '2001', '1.5', 'fast']) {
      expect(await world.run('endpoint', 'resume', endpointId, '--rate', rate)).toMatchObject({
        exitCode: 2,
      });
    }
  });

  it('endpoint list shows the state of the breaker and the number of held deliveries for each reason', async () => {
    const { endpointId } = await add();
    expect(await find(endpointId)).toMatchObject({ breaker: { state: 'closed', failures: 0 }, held: {} });
    await world.sql.query(
      `insert into endpoint_breakers (endpoint_id, state, failures, failing_since, opened_at, probe_at, interval_ms, updated_at)
       values ($1, 'open', 12, now() - interval '1 minute', now() - interval '50 seconds', now() + interval '20 seconds', 30000, now())`,
      [endpointId],
    );
    await world.sql.query(
      `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, reason, due_at, held_at, queue, message)
       select gen_random_uuid(), gen_random_uuid(), $1, case when n = 1 then 'delay' else 'breaker' end::hold_reason, now(), now(), 'q', ''
       from generate_series(1, 4) n`,
      [endpointId],
    );
    expect(await find(endpointId)).toMatchObject({
      breaker: { state: 'open', failures: 12 },
      held: { delay: 1, breaker: 3 },
    });
    const { stdout } = await world.run('endpoint', 'list', '--project', projectId);
    expect(stdout).toMatch(/open, 12 failures in 6\d s, tried in (1\d|20) s/);
    expect(stdout).toMatch(/3 breaker/);
  });
});

describe('endpoint rotate-secret', () => {
  it('endpoint rotate-secret prints a new signing secret, and the old one expires when the overlap ends', async () => {
    const { endpointId, signingSecret } = await add();
    const rotated = jsonOf(
      await world.run('endpoint', 'rotate-secret', endpointId, '--overlap', '1h', '--json'),
    ) as { signingSecret: string; overlapEndsAt: string };
    expect(rotated.signingSecret).toMatch(/^whsec_/);
    expect(rotated.signingSecret).not.toBe(signingSecret);
    const { rows } = await world.sql.query(
      'select expires_at from endpoint_secrets where endpoint_id = $1 order by created_at',
      [endpointId],
    );
    expect(rows).toEqual([{ expires_at: new Date(rotated.overlapEndsAt) }, { expires_at: null }]);
  });

  it('endpoint rotate-secret fails for an endpoint that does not exist', async () => {
    expect(await world.run('endpoint', 'rotate-secret', unknownId)).toMatchObject({
      exitCode: 1,
      stdout: '',
    });
  });
});
