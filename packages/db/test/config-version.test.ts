import { freshId } from '@hqrelay/testing/fresh-id';
import { readProjectConfig } from '../src/queries/project-config.ts';
import { raiseLastSeen } from '../src/queries/last-seen.ts';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { beforeEach, describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld({ connectionsMax: 6 });
let projectId: string;
let otherProjectId: string;
let endpointId: string;

beforeEach(async () => {
  ({ id: projectId } = await seedProject(world));
  ({ id: otherProjectId } = await seedProject(world));
  ({ id: endpointId } = await seedEndpoint(world, projectId, { url: 'http://127.0.0.1:9/' }));
});

async function versionOf(id: string): Promise<number> {
  const config = await readProjectConfig(app, id);
  return config?.version ?? Number.NaN;
}

describe('a project’s config version', () => {
  it.each([
    ['its name', `update projects set name = 'other' where id = $1`],
    ['its rate limit', 'update projects set rate_limit_per_minute = 7 where id = $1'],
    ['its being enabled', 'update projects set enabled = false where id = $1'],
    ['its scheme', `update projects set scheme = '{"kind":"hmac"}' where id = $1`],
    ['a secret’s expiry', 'update project_secrets set expires_at = now() where project_id = $1'],
    ['a secret’s revocation', 'update project_secrets set revoked_at = now() where project_id = $1'],
    ['an endpoint’s URL', `update endpoints set url = 'http://127.0.0.1:10/' where project_id = $1`],
    ['an endpoint’s pause', 'update endpoints set paused = true where project_id = $1'],
    ['an endpoint’s being enabled', 'update endpoints set enabled = false where project_id = $1'],
    ['an endpoint’s schedule', `update endpoints set retry_schedule = '{1s}' where project_id = $1`],
    [
      'the expiry of an endpoint’s secret',
      'update endpoint_secrets set expires_at = now() where endpoint_id in (select id from endpoints where project_id = $1)',
    ],
    [
      'a new secret',
      `insert into project_secrets (id, project_id, sealed, key_id) values (gen_random_uuid(), $1, 'x', 'y')`,
    ],
    [
      'a new endpoint',
      `insert into endpoints (id, project_id, url, retry_schedule, timeout_ms) values (gen_random_uuid(), $1, 'http://x', '{}', 1)`,
    ],
    [
      'a new secret of an endpoint',
      `insert into endpoint_secrets (id, endpoint_id, sealed, key_id) select gen_random_uuid(), id, 'x', 'y' from endpoints where project_id = $1`,
    ],
  ])(
    'the config version of a project rises with %s, and that of no other project',
    async (_what, statement) => {
      const [before, other] = await Promise.all([
        world.sql.query('select config_version from projects where id = $1', [projectId]),
        world.sql.query('select config_version from projects where id = $1', [otherProjectId]),
      ]);
      const { rowCount } = await app.query(statement, [projectId]);
      expect(rowCount).toBe(1);
      const after = await world.sql.query<{ id: string; config_version: string }>(
        'select id, config_version from projects where id in ($1, $2)',
        [projectId, otherProjectId],
      );
      const version = (id: string) => Number(after.rows.find((row) => row.id === id)?.config_version);
      expect(version(projectId)).toBe(Number(before.rows[0].config_version) + 1);
      expect(version(otherProjectId)).toBe(Number(other.rows[0].config_version));
    },
  );

  it('the config version does not rise when a webhook is received, a secret verifies, or an update changes no value', async () => {
    const before = await versionOf(projectId);
    const { rows } = await app.query<{ id: string }>('select id from project_secrets where project_id = $1', [
      projectId,
    ]);
    await raiseLastSeen(app, {
      projects: new Map([[projectId, Date.now()]]),
      secrets: new Map([[rows[0]?.id as string, Date.now()]]),
    });
    await app.query('update projects set name = name where id = $1', [projectId]);
    await app.query('update endpoints set paused = paused where id = $1', [endpointId]);
    expect(await versionOf(projectId)).toBe(before);
    const seen = await app.query(
      `select from projects p join project_secrets s on s.project_id = p.id
       where p.id = $1 and last_received_at is not null and last_verified_at is not null`,
      [projectId],
    );
    expect(seen.rowCount).toBe(1);
  });

  it('the config version rises by one for each of many concurrent changes, and never falls', async () => {
    const before = await versionOf(projectId);
    await Promise.all([
      ...Array.from({ length: 10 }, (_, index) =>
        app.query('update endpoints set timeout_ms = $2 where id = $1', [endpointId, 1_000 + index]),
      ),
      ...Array.from({ length: 10 }, () =>
        app.query(`insert into project_secrets (id, project_id, sealed, key_id) values ($1, $2, 'x', 'y')`, [
          freshId(),
          projectId,
        ]),
      ),
    ]);
    expect(await versionOf(projectId)).toBe(before + 20);
    await app.query('update projects set config_version = 0 where id = $1', [projectId]);
    expect(await versionOf(projectId)).toBe(before + 21);
  });
});
