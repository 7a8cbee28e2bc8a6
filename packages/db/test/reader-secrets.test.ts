import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, expect, inject, it } from 'vitest';

const world = await createWorld(inject('run'));
afterAll(() => world.close());

type Column = { relation: string; column: string; readable: boolean };

/** Every column of every table and view of the schema, the partitions aside: a role reads those through their parent. */
async function columns(): Promise<Column[]> {
  const { rows } = await world.sql.query<Column>(
    `select c.relname as relation, a.attname as column, has_column_privilege('hqrelay_reader', c.oid, a.attnum, 'select') as readable
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition order by 1, a.attnum`,
  );
  return rows;
}

/** Columns that are named like a secret and are none. */
const harmless = new Set([
  // The SHA-256 of a body.
  'payload_sha256',
  // Public certificates.
  'ca_certificates',
  // Which reservation holds an id; it opens nothing.
  'idempotency_keys.token',
  // How many tokens of a model a project used.
  'insight_usage.tokens',
  // Which key of HQRELAY_SECRETS_KEY encrypted, not the key.
  'headers_key_id',
  'client_certificate_key_id',
]);

it('hqrelay_reader reads no column that is named like a secret', async () => {
  const named = (await columns()).filter(({ column }) =>
    /sealed|secret|hash|sha256|token|password|certificate|credential_value|private/.test(column),
  );
  const isHarmless = ({ relation, column }: Column) =>
    harmless.has(column) || harmless.has(`${relation}.${column}`);
  expect(named.filter((each) => each.readable && !isHarmless(each))).toEqual([]);
  expect(named.filter(({ readable }) => !readable).length).toBeGreaterThanOrEqual(4);
});

it('in all that hqrelay_reader can read there is no secret, neither in clear nor encrypted', async () => {
  const project = await seedProject(world);
  const endpoint = await seedEndpoint(world, project.id, {
    url: 'https://example.com/',
    fixedHeaders: [['x-api-key', 'planted-header-value']],
    tls: { client: { certificate: 'planted-certificate', key: 'planted-private-key' } },
  });
  const { rows: sealed } = await world.sql.query<{ sealed: string }>(
    `select sealed::text from project_secrets union all select sealed::text from endpoint_secrets
     union all select sealed_headers::text from endpoints union all select sealed_client_certificate::text from endpoints`,
  );
  expect(sealed).toHaveLength(4);
  const clear = [project.secret, endpoint.signingSecret, 'planted-header-value', 'planted-private-key'];
  const secrets = [...clear, ...sealed.map((row) => row.sealed)];

  const client = await world.sql.connect();
  await client.query('set role hqrelay_reader');
  let text = '';
  for (const { relation, column, readable } of await columns()) {
    if (!readable) continue;
    const { rows } = await client.query<{ value: string }>(
      `select "${column}"::text as value from "${relation}" where "${column}" is not null`,
    );
    text += rows.map(({ value }) => value).join('\n');
  }
  await client.query('reset role');
  client.release();
  expect(text).toContain(project.id);
  expect(
    secrets.filter((secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'))),
  ).toEqual([]);
});
