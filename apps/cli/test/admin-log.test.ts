import { userInfo } from 'node:os';
import { beforeEach, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

type Row = {
  actor: string;
  action: string;
  project_id: string;
  target: string;
  details: { before?: object; after?: object; replaced?: string[] };
};

const world = await openCliWorld();
let projectId: string;
let endpointId: string;
let signingSecret: string;
let seen = new Set<string>();

/** The rows since the last call, the oldest first. */
async function newRows(): Promise<Row[]> {
  const { rows } = await world.sql.query<Row & { id: string }>(
    'select * from admin_log order by created_at, id',
  );
  const fresh = rows.filter(({ id }) => !seen.has(id));
  seen = new Set(rows.map(({ id }) => id));
  return fresh;
}

beforeEach(async () => {
  projectId = await world.createProject();
  ({ endpointId, signingSecret } = await world.addEndpoint(projectId, 'https://endpoint.example/hook'));
  await newRows();
});

const secretId = async () =>
  (jsonOf(await world.run('secret', 'list', '--project', projectId, '--json')) as { id: string }[])[0]!.id;

it.each([
  [
    'project update',
    () => ['project', 'update', projectId, '--name', 'Other'],
    { name: 'Acme' },
    { name: 'Other' },
  ],
  ['project disable', () => ['project', 'disable', projectId], { enabled: true }, { enabled: false }],
  ['endpoint pause', () => ['endpoint', 'pause', endpointId], { paused: false }, { paused: true }],
  [
    'endpoint disable',
    () => ['endpoint', 'disable', endpointId, '--reason', 'moved'],
    { enabled: true, disabledBy: null, disabledReason: null },
    { enabled: false, disabledBy: 'person', disabledReason: 'moved' },
  ],
  [
    'endpoint update',
    () => ['endpoint', 'update', endpointId, '--events', 'a', '--timeout', '2s'],
    { eventTypes: [], timeoutMs: 10_000 },
    { eventTypes: ['a'], timeoutMs: 2_000 },
  ],
])(
  '%s writes one admin_log row with the changed fields alone, before and after',
  async (name, argv, before, after) => {
    jsonOf(await world.run(...argv(), '--json'));
    const [noun] = name.split(' ');
    expect(await newRows()).toMatchObject([
      {
        actor: `cli:${userInfo().username}`,
        action: name.replace(' ', '.'),
        project_id: projectId,
        target: noun === 'project' ? projectId : endpointId,
        details: { before, after },
      },
    ]);
  },
);

it('every command that changes something writes one admin_log row, and commands that read write none', async () => {
  const commands: [string, string[]][] = [
    ['project.create', ['project', 'create', '--name', 'B']],
    ['secret.rotate', ['secret', 'rotate', '--project', projectId]],
    ['secret.revoke', ['secret', 'revoke', await secretId()]],
    ['endpoint.add', ['endpoint', 'add', '--project', projectId, '--url', 'https://b.example/']],
    ['endpoint.rotate_secret', ['endpoint', 'rotate-secret', endpointId]],
    ['endpoint.pause', ['endpoint', 'pause', endpointId]],
    ['endpoint.resume', ['endpoint', 'resume', endpointId, '--rate', '7']],
    ['endpoint.disable', ['endpoint', 'disable', endpointId]],
    ['endpoint.enable', ['endpoint', 'enable', endpointId]],
    ['replay_job.create', ['replay', '--endpoint', endpointId, '--since', '1h']],
    ['endpoint.archive', ['endpoint', 'archive', endpointId]],
    ['project.disable', ['project', 'disable', projectId]],
    ['project.enable', ['project', 'enable', projectId]],
    ['project.archive', ['project', 'archive', projectId]],
  ];
  for (const [action, argv] of commands) {
    jsonOf(await world.run(...argv, '--json'));
    expect((await newRows()).map((row) => row.action)).toEqual([action]);
  }
  for (const argv of [
    ['project', 'list'],
    ['endpoint', 'list'],
    ['secret', 'list', '--project', projectId],
    ['webhook', 'list', '--project', projectId],
    ['dlq', 'list'],
  ]) {
    jsonOf(await world.run(...argv, '--json'));
  }
  expect(await newRows()).toEqual([]);
});

it('a command that changes nothing and a command that fails write no admin_log row', async () => {
  jsonOf(await world.run('endpoint', 'enable', endpointId, '--json'));
  jsonOf(await world.run('project', 'update', projectId, '--name', 'Acme', '--json'));
  const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
  for (const argv of [
    ['endpoint', 'pause', unknown],
    ['project', 'archive', unknown],
    ['secret', 'revoke', unknown],
  ]) {
    expect(await world.run(...argv)).toMatchObject({ exitCode: 1 });
  }
  expect(await newRows()).toEqual([]);
});

it('no admin_log row contains a secret, in clear or sealed, or the value of a fixed header', async () => {
  const created = jsonOf(
    await world.run('project', 'create', '--name', 'C', '--secret', 'hush hush hush hush', '--json'),
  ) as { projectId: string };
  const url = 'https://c.example/?token=hush-hush';
  await world.addEndpoint(created.projectId, url, '--header', 'Authorization: Bearer hush-hush');
  jsonOf(await world.run('endpoint', 'update', endpointId, '--header', 'X-Key: hush-hush', '--json'));
  jsonOf(await world.run('endpoint', 'rotate-secret', endpointId, '--json'));
  const rows = await newRows();
  expect(rows).toHaveLength(4);
  expect(rows[2]?.details).toMatchObject({
    before: { hasHeaders: false },
    after: { hasHeaders: true },
    replaced: ['fixedHeaders'],
  });
  const text = JSON.stringify(rows);
  expect(text).not.toMatch(/hush|sealed|whsec_/);
  expect(text).not.toContain(signingSecret);
});

it('a change and its admin_log row are committed together: a refused row rolls the change back', async () => {
  await world.sql.query('revoke insert on admin_log from hqrelay_console');
  try {
    expect(await world.run('endpoint', 'pause', endpointId)).toMatchObject({ exitCode: 1, stdout: '' });
  } finally {
    await world.sql.query('grant insert on admin_log to hqrelay_console');
  }
  const listed = jsonOf(await world.run('endpoint', 'list', '--project', projectId, '--json'));
  expect(listed).toMatchObject([{ paused: false }]);
  expect(await newRows()).toEqual([]);
});
