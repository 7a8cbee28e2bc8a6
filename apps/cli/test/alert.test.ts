import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const { run, createProject, sql } = await openCliWorld();

type Added = { alertId: string; signingSecret?: string };

const add = async (...options: string[]) => {
  const projectId = await createProject();
  return jsonOf(await run('alert', 'add', '--project', projectId, '--json', ...options)) as Added;
};

it('alert add prints the id, and the signing secret of a callback alone', async () => {
  const kinds = ['--on', 'dead_letter,endpoint_failing'];
  expect(Object.keys(await add(...kinds, '--email', 'ops@shop.example'))).toEqual(['alertId']);
  expect(Object.keys(await add(...kinds, '--slack', 'https://hooks.slack.com/services/T/B/x'))).toEqual([
    'alertId',
  ]);
  const { signingSecret } = await add(...kinds, '--webhook', 'https://shop.example/a', '--window', '5m');
  expect(signingSecret).toMatch(/^whsec_/);
});

it.each([
  ['no channel', []],
  ['two channels', ['--email', 'a@example.com', '--webhook', 'https://shop.example/']],
  ['two addresses', ['--email', 'a@example.com,b@example.com']],
  ['a short window', ['--email', 'a@example.com', '--window', '1s']],
  ['an unknown kind', ['--email', 'a@example.com', '--on', 'dead']],
])('alert add with %s is wrong usage', async (_what, options) => {
  const projectId = await createProject();
  const outcome = await run('alert', 'add', '--project', projectId, '--on', 'dead_letter', ...options);
  expect([outcome.exitCode, outcome.stdout]).toEqual([2, '']);
});

it('alert list shows the rules, alert snooze silences one, alert remove ends it', async () => {
  const { alertId } = await add('--on', 'dead_letter', '--email', 'ops@shop.example');
  const snoozed = jsonOf(await run('alert', 'snooze', alertId, '--until', '4h', '--json')) as {
    snoozedUntil: string;
  };
  expect(Date.parse(snoozed.snoozedUntil) - Date.now()).toBeGreaterThan(3.9 * 3_600_000);
  expect((await run('alert', 'snooze', alertId, '--until', '2020-01-01')).exitCode).toBe(2);
  const listed = await run('alert', 'list');
  expect(listed.stdout).toContain(alertId);
  expect(listed.stdout).toContain('nothing sent yet');
  expect((await run('alert', 'remove', alertId)).exitCode).toBe(0);
  expect((await run('alert', 'list')).stdout).not.toContain(alertId);
  expect((await run('alert', 'remove', alertId)).exitCode).toBe(1);
});

it('alert test says what the channel answered, and fails when it was not sent', async () => {
  const { alertId } = await add('--on', 'dead_letter', '--email', 'ops@shop.example');
  /** Records a try as a worker does. */
  const answer = (status: string, text: string) =>
    waitFor('the test message', async () => {
      const { rowCount } = await sql.query(
        `insert into alert_attempts (message_id, attempt_num, status, answer, latency_ms, attempted_at)
         select message_id, 1, $2::alert_attempt_status, $3, 7, now() from alert_sendings s where s.rule_id = $1
           and not exists (select from alert_attempts a where a.message_id = s.message_id)`,
        [alertId, status, text],
      );
      return rowCount === 1;
    });
  const [sent] = await Promise.all([run('alert', 'test', alertId, '--json'), answer('sent', '250 ok')]);
  expect(jsonOf(sent)).toMatchObject({ alertId, sent: true, answer: '250 ok' });
  const [failed] = await Promise.all([
    run('alert', 'test', alertId),
    answer('failed', '550 no such mailbox'),
  ]);
  expect(failed.exitCode).toBe(1);
  expect(failed.stderr).toContain('550 no such mailbox');
});
