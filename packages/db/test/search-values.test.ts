import { newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { beforeEach, describe, expect, it } from 'vitest';
import { dropPayloads } from '../src/queries/drop-payloads.ts';
import { eraseWebhook } from '../src/queries/erase-webhook.ts';
import { ensurePartition } from '../src/queries/partitions.ts';
import { rollUpStatistics } from '../src/queries/roll-up-statistics.ts';
import { search } from '../src/queries/search.ts';
import { indexSearchValues } from '../src/queries/search-values.ts';
import { countWebhooks, readWebhookList } from '../src/queries/webhook-list.ts';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld();
const { sql } = world;
const now = Date.now();
const dayMs = 86_400_000;
let projectId: string;

beforeEach(async () => {
  projectId = freshId();
  await sql.query('insert into projects (id, name, search_keys) values ($1, $2, $3)', [
    projectId,
    'keyed',
    ['/order/id', '/lines/1/sku', '/a~1b'],
  ]);
});

const receive = (payload: string | Buffer, at = now - 60_000) =>
  recordWebhook(app, { id: newId(at), projectId }, { payload: Buffer.from(payload), headers: [], query: '' });

async function indexAll(): Promise<void> {
  await sql.query('update search_progress set indexed_to = $1', [new Date(now - 3_600_000)]);
  while (await indexSearchValues(app));
}

async function valuesOf(id: string): Promise<string[]> {
  const { rows } = await sql.query<{ value: string }>(
    'select value from webhook_search_values where webhook_log_id = $1 order by 1',
    [id],
  );
  return rows.map(({ value }) => value);
}

describe('search keys', () => {
  it.each<[what: string, payload: string | Buffer, values: string[]]>([
    ['a text and one in an array', '{"order":{"id":"A-1"},"lines":[{},{"sku":"X"}]}', ['A-1', 'X']],
    ['a number that no double holds', '{"order":{"id":12345678901234567890}}', ['12345678901234567890']],
    ['a number as it is written', '{"order":{"id":1.50}}', ['1.50']],
    ['a key with a slash and an escaped text', '{"a/b":"\\u00fc"}', ['ü']],
    ['an object, null and true', '{"order":{"id":{}},"a/b":null}', []],
    ['a text of over 200 characters', `{"order":{"id":"${'x'.repeat(201)}"}}`, []],
    ['no JSON', 'order=4711', []],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), []],
    ['a text with NUL', '{"order":{"id":"a\\u0000b"}}', []],
    ['JSON that is nested too deeply', '['.repeat(100_000), []],
    ['an empty payload', '', []],
  ])('a payload with %s has the values that stand there', async (_what, payload, values) => {
    const id = await receive(payload);
    await indexAll();
    expect(await valuesOf(id)).toEqual(values);
  });

  it('a webhook of any age is found by its value, by the search and by the list, and text only where no value is equal', async () => {
    const found = await receive('{"order":{"id":"4711"}}', now - 2_000_000);
    const alike = await receive('{"phone":"4711","order":{"id":"17"}}');
    await indexAll();
    const period = { projectId, since: now - dayMs, until: now };
    const page = { position: null, direction: 'older', limit: 50 } as const;
    const listed = async (q: string) =>
      (await readWebhookList(app, { ...period, q }, page)).rows.map(({ id }) => id);
    expect(await listed('4711')).toEqual([found]);
    expect(await countWebhooks(app, { ...period, q: '4711' })).toEqual({ count: 1, capped: false });
    expect(await listed('"phone":"4711"')).toEqual([alike]);
    const asked = { q: '17', projectId: null, searchPayloads: true };
    const ids = (await search(app, asked)).items.map(({ id }) => id);
    expect(ids).toContain(alike);
    expect((await search(app, { ...asked, searchPayloads: false })).items).toEqual([]);
    expect((await search(app, { ...asked, projectId: freshId() })).items).toEqual([]);
  });

  it('a payload that arrives late is indexed when its bucket is counted', async () => {
    await sql.query(
      `update statistics_progress set is_backfilled = true, counted_to = date_bin('30 minutes', now(), '2000-01-01Z')`,
    );
    await indexAll();
    const late = await receive('{"order":{"id":"late"}}', now - 3 * 3_600_000);
    while (await indexSearchValues(app));
    expect(await valuesOf(late)).toEqual([]);
    while (await rollUpStatistics(app));
    expect(await valuesOf(late)).toEqual(['late']);
  });

  it('erasing a webhook and dropping old payloads remove their values', async () => {
    const erased = await receive('{"order":{"id":"secret"}}');
    await ensurePartition(sql, now - 40 * dayMs);
    const old = await receive('{"order":{"id":"old"}}', now - 40 * dayMs);
    await indexAll();
    await sql.query('update search_progress set indexed_to = $1', [new Date(now - 41 * dayMs)]);
    while (await indexSearchValues(app));
    expect([await valuesOf(erased), await valuesOf(old)]).toEqual([['secret'], ['old']]);
    const client = await app.connect();
    await client.query('begin');
    await eraseWebhook(client, erased, 'asked');
    await client.query('commit');
    client.release();
    expect(await valuesOf(erased)).toEqual([]);
    expect(await dropPayloads(app, now - 30 * dayMs)).toBeGreaterThan(0);
    expect(await valuesOf(old)).toEqual([]);
    await indexAll();
    expect(await valuesOf(erased)).toEqual([]);
  });

  it('a project has at most five search keys', async () => {
    await expect(
      sql.query('update projects set search_keys = $2 where id = $1', [
        projectId,
        ['/1', '/2', '/3', '/4', '/5', '/6'],
      ]),
    ).rejects.toMatchObject({ code: '23514' });
  });
});
