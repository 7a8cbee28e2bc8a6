import { listSilentProjects } from '@hqrelay/db/queries/silent-projects';
import { newId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { minuteMs, openAlertsWorld } from './alerts-world.ts';

const world = await openAlertsWorld();
const { sql, clock } = world;
const hourMs = 60 * minuteMs;

afterEach(async () => {
  await sql.query('delete from alert_sendings; update alert_rules set removed_at = now()');
  if (world.warnings.length > 0) throw new Error(JSON.stringify(world.warnings));
});

async function open() {
  const rule = await world.addRule(['project_silent']);
  const told = async () =>
    (await world.messages(rule.ruleId)).map(({ type, state, count }) => `${type} ${state} ${count}`);
  return { ...rule, told };
}

type Open = Awaited<ReturnType<typeof open>>;

describe('project_silent', () => {
  // No hour ends during a test: another hour has another history.
  beforeEach(() => {
    const leftMs = hourMs - (Date.now() % hourMs);
    clock.aheadMs = leftMs < 10 * minuteMs ? leftMs + minuteMs : 0;
  });

  /** Webhooks of the last complete hour, one to four weeks before. */
  async function addHistory(projectId: string, perWeek: readonly number[]): Promise<void> {
    await sql.query(
      `insert into received_statistics (project_id, bucket_at, status, requests)
       select $1, date_trunc('hour', $3::timestamptz at time zone 'UTC') at time zone 'UTC' - interval '1 hour'
         - week * interval '168 hours', 'queued', requests
       from unnest($2::int[]) with ordinality as w (requests, week) where requests > 0`,
      [projectId, perWeek, new Date(world.now())],
    );
  }

  const isSilent = async ({ projectId }: Open) =>
    (await listSilentProjects(sql, world.now())).some((each) => each.projectId === projectId);

  it('a project without a webhook in an hour where at least ten came on average is told, until one comes', async () => {
    const rule = await open();
    await addHistory(rule.projectId, [10, 9, 11, 10]);
    expect(await isSilent(rule)).toBe(true);
    await world.settle();
    expect(await rule.told()).toEqual(['project_silent firing 0']);
    expect((await world.messages(rule.ruleId))[0]?.reason).toContain('where 10 came');
    await recordWebhook(sql, { projectId: rule.projectId, id: newId(world.now()) });
    clock.aheadMs += 1_000;
    await world.evaluate();
    expect(await isSilent(rule)).toBe(false);
    expect((await rule.told()).at(-1)).toBe('project_silent recovered 0');
  });

  it.each([
    ['fewer than ten are expected', [10, 9, 10, 10]],
    ['the history is three weeks long', [40, 40, 40, 0]],
    ['one week had a burst', [0, 0, 0, 400]],
  ])('a project is not silent when %s', async (_why, perWeek) => {
    const rule = await open();
    await addHistory(rule.projectId, perWeek);
    expect(await isSilent(rule)).toBe(false);
  });

  it('a project is not silent when webhooks came in that hour, also those that the relay could not take', async () => {
    const rule = await open();
    await addHistory(rule.projectId, [50, 50, 50, 50]);
    await recordWebhook(
      sql,
      { projectId: rule.projectId, status: 'failed_to_queue', id: newId(world.now() - 1_000) },
      null,
    );
    expect(await isSilent(rule)).toBe(false);
  });
});
