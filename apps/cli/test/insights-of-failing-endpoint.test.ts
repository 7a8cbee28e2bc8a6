import { waitFor } from '@hqrelay/testing/wait-for';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { openAppsWorld } from './apps-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openAppsWorld();
/** With the privileges of `hqrelay_reader` alone. */
const reader = new pg.Client({ connectionString: world.ownerDatabaseUrl });
await reader.connect();
await reader.query('set role hqrelay_reader');
afterAll(() => reader.end());

type Printed = { findings: { kind: string; text: string; sql: string; exampleIds: string[] }[] };

it('when an endpoint fails, insights names it and the cause, and its SQL returns the webhooks that the provider sent', async () => {
  world.endpoint.answerWith({ statusCode: 503, body: 'the warehouse is closed' });
  const projectId = await world.createProject();
  const { endpointId } = await world.addEndpoint(projectId, world.endpoint.url, '--retry', '1s,1s');
  const sent = [await world.send(projectId), await world.send(projectId), await world.send(projectId)];
  await waitFor('the dead letters', async () => {
    const dead = await world.sql.query('select from dead_letters where project_id = $1', [projectId]);
    return dead.rowCount === sent.length;
  });
  const { stdout } = await world.run('insights', '--project', projectId, '--sql');
  expect(stdout).toMatch(
    new RegExp(`^CRITICAL .*\n {2}${world.endpoint.url} failed 9 attempts with HTTP 503`, 'm'),
  );
  expect(stdout).toContain('Its newest answer began “the warehouse is closed”.');
  const { findings } = jsonOf(await world.run('insights', '--project', projectId, '--json')) as Printed;
  expect(findings.map(({ kind }) => kind)).toEqual(['endpoint_failing', 'dead_letters']);
  for (const { sql } of findings) {
    const { rows } = await reader.query<{ webhook_log_id: string }>(sql);
    expect(new Set(rows.map((row) => row.webhook_log_id))).toEqual(new Set(sent));
    if (sql.includes('delivery_attempts')) expect(sql).toContain(endpointId);
  }
});
