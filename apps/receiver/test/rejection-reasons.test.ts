import { randomUUID } from 'node:crypto';
import { genericTimestampScheme } from '@hqrelay/domain/providers/generic';
import { revokeProjectSecret } from '@hqrelay/db/queries/project-secrets';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import { postWebhook, signAsProvider, signInbound } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject, seedSecret } from '@hqrelay/testing/seed';
import { expect, it } from 'vitest';
import { openReceiverWorld, sendRaw } from './receiver-world.ts';

const world = await openReceiverWorld();
const body = Buffer.from('{"event":"payment.captured","amount":1}');

it('a request without a signature header is on record as signature.missing with the name of the header', async () => {
  const project = await seedProject(world);
  await post(project.id, {}, body);
  expect(await reasonsOf(project)).toEqual(['signature.missing no header x-hub-signature-256']);
});

it('a request with a malformed signature header is on record as signature.malformed', async () => {
  const project = await seedProject(world);
  await post(project.id, { 'X-Hub-Signature-256': 'sha1=abcd' }, body);
  const reason = 'signature.malformed x-hub-signature-256 is not sha256=<hex of 32 bytes>';
  expect(await reasonsOf(project)).toEqual([reason]);
});

it('a request with the signature of another secret is on record as signature.mismatch', async () => {
  const project = await seedProject(world);
  await post(project.id, signAsProvider({ ...project, secret: 'another' }, body), body);
  expect(await reasonsOf(project)).toEqual(['signature.mismatch']);
});

it('a signed request without its timestamp header is on record with the name of the header', async () => {
  const project = await seedProject(world, { requireTimestamp: true });
  await post(project.id, signAsProvider({ ...project, requireTimestamp: false }, body), body);
  const words = 'the header x-webhook-timestamp is missing or not a time in unix seconds';
  expect(await reasonsOf(project)).toEqual([`signature.mismatch ${words}`]);
});

it('a request with an expired or a revoked secret is on record as signature.retired_secret', async () => {
  const project = await seedProject(world);
  const { rows } = await world.sql.query<{ id: string }>(
    'select id from project_secrets where project_id = $1',
    [project.id],
  );
  const old = rows[0]!.id;
  await seedSecret(world, { projectId: project.id, secret: 'the second secret' });
  await world.sql.query(`update project_secrets set expires_at = now() - interval '1 minute' where id = $1`, [
    old,
  ]);
  await announceProjectChange(world.redis, project.id);
  expect((await postWebhook(world.url, project, { body })).statusCode).toBe(401);
  expect((await reasonsOf(project))[0]).toMatch(
    new RegExp(`^signature.retired_secret the secret ${old} expired at `),
  );

  const third = await seedSecret(world, { projectId: project.id, secret: 'the third secret' });
  await revokeProjectSecret(world.sql, third);
  await announceProjectChange(world.redis, project.id);
  expect(
    (await postWebhook(world.url, { ...project, secret: 'the third secret' }, { body })).statusCode,
  ).toBe(401);
  expect((await reasonsOf(project, 2))[1]).toMatch(
    new RegExp(`^signature.retired_secret the secret ${third} was revoked at `),
  );
});

it('a request whose body was serialised again or lost its newline is on record as body.altered', async () => {
  const project = await seedProject(world);
  await post(
    project.id,
    signAsProvider(project, body),
    Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 4)),
  );
  expect(await reasonsOf(project)).toEqual(['body.altered its JSON was serialised again']);
  await post(project.id, signAsProvider(project, Buffer.from('text\n')), Buffer.from('text'));
  expect((await reasonsOf(project, 2))[1]).toBe('body.altered a newline at its end was removed');
});

it('a signed request with an old timestamp is on record as timestamp.stale', async () => {
  const project = await seedProject(world, { requireTimestamp: true });
  const signed = signInbound(genericTimestampScheme, project.secret, { body, now: Date.now() - 400_000 });
  await post(project.id, signed, body);
  expect((await reasonsOf(project))[0]).toMatch(/^timestamp.stale the timestamp is 40\d s old; /);
});

it('a request for a disabled project is on record as project.disabled, whatever its signature', async () => {
  const project = await seedProject(world);
  await world.sql.query('update projects set enabled = false where id = $1', [project.id]);
  await postWebhook(world.url, project, { body });
  await post(project.id, {}, body);
  expect(await reasonsOf(project, 2)).toEqual(['project.disabled', 'project.disabled']);
});

it('a request for an id that is no project is on record as project.unknown', async () => {
  const id = randomUUID();
  await post(id, {}, body);
  expect(await reasonsOf({ id })).toEqual(['project.unknown']);
});

it('a signed request whose JSON does not parse is on record as body.not_json', async () => {
  const project = await seedProject(world);
  await postWebhook(world.url, project, { body: '{"a":', headers: { 'content-type': 'application/json' } });
  expect(await reasonsOf(project)).toEqual(['body.not_json']);
});

async function reasonsOf({ id }: Pick<SeededProject, 'id'>, count = 1) {
  return (await world.waitForLogs(id, 'rejected', count)).map(({ reason }) => reason);
}

function post(projectId: string, headers: Record<string, string>, content: Buffer) {
  return sendRaw(world.webhooksUrl(projectId), { headers: Object.entries(headers).flat(), body: content });
}
