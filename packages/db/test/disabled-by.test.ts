import { followUpOf } from '@hqrelay/domain/delivery/follow-up';
import { owedEndpoints } from '@hqrelay/domain/inbound/owed-endpoints';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { listEndpoints } from '../src/queries/endpoint-list.ts';
import { readProjectConfig } from '../src/queries/project-config.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld(inject('run'));
});

afterAll(() => world.close());

/** Disables an endpoint as programs before the column `disabled_by` do. Returns `disabledBy` of the list, and the number of owed endpoints. */
async function disabledByOldProgram(reason: string | null) {
  const project = await seedProject(world);
  const { id } = await seedEndpoint(world, project.id, { url: 'https://example.com/' });
  const update = 'update endpoints set enabled = false, disabled_reason = $2 where id = $1 and enabled';
  await world.sql.query(update, [id, reason]);
  const config = await readProjectConfig(world.sql, project.id);
  const [listed] = await listEndpoints(world.sql, { projectId: project.id, archivedToo: false });
  return { listedAs: listed!.disabledBy, owes: owedEndpoints(config!.endpoints, null).length };
}

it('an endpoint that an older worker disabled after a 410 is still owed webhooks', async () => {
  const followUp = followUpOf({
    outcome: { kind: 'gone', statusCode: 410, error: 'HTTP 410' },
    schedule: [],
    attemptNum: 1,
    now: 0,
    random: () => 0,
  });
  if (followUp.kind !== 'disable_endpoint') throw new Error(followUp.kind);
  expect(await disabledByOldProgram(followUp.reason)).toEqual({ listedAs: 'relay', owes: 1 });
});

it('an endpoint that a person disabled with an older command line is owed none', async () => {
  for (const reason of [null, 'moved'])
    expect(await disabledByOldProgram(reason)).toEqual({ listedAs: null, owes: 0 });
});
