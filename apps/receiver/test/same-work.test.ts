import crypto, { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { signAsProvider } from '@hqrelay/testing/provider';
import { seedProject, seedSecret } from '@hqrelay/testing/seed';
import { afterAll, expect, it } from 'vitest';
import { openReceiverWorld, sendRaw } from './receiver-world.ts';

const world = await openReceiverWorld();
/** Too large for a diagnosis after the answer. */
const body = Buffer.alloc(100_000, 0x61);
/** Bytes that went through an HMAC, counted in the real functions. */
let hmacBytes = 0;
const { createHmac } = crypto;
crypto.createHmac = (...args) => {
  const hmac = createHmac(...args);
  const update = hmac.update.bind(hmac) as (data: Buffer | string, encoding?: 'utf8') => typeof hmac;
  hmac.update = (data: unknown, encoding?: unknown) => {
    hmacBytes += (data as Buffer | string).length;
    return update(data as Buffer, encoding as 'utf8');
  };
  return hmac;
};
syncBuiltinESMExports();
afterAll(() => {
  crypto.createHmac = createHmac;
  syncBuiltinESMExports();
});

it('a refused request costs two HMACs of its body, whichever project it is for and whatever it is signed with', async () => {
  const [one, two, timestamped, disabled] = await Promise.all([
    seedProject(world),
    seedProject(world),
    seedProject(world, { requireTimestamp: true }),
    seedProject(world),
  ]);
  await seedSecret(world, { projectId: two.id, secret: 'another' });
  await world.sql.query('update projects set enabled = false where id = $1', [disabled.id]);
  const wrong = signAsProvider({ ...one, secret: 'wrong' }, body);
  const cases: [string, string, Record<string, string>][] = [
    ['wrongly signed', one.id, wrong],
    ['wrongly signed, two secrets', two.id, wrong],
    ['wrongly signed, with a timestamp', timestamped.id, { ...wrong, 'x-webhook-timestamp': '1' }],
    ['disabled', disabled.id, signAsProvider(disabled, body)],
    ['unknown', randomUUID(), wrong],
    ['without a signature', two.id, {}],
    ['unknown, without a signature', randomUUID(), {}],
    ['malformed', two.id, { 'x-hub-signature-256': 'sha256=ab' }],
    ['unknown, malformed', randomUUID(), { 'x-hub-signature-256': 'sha256=ab' }],
  ];
  const hmacs: [string, number][] = [];
  for (const [name, projectId, headers] of cases) {
    // The first request of a project opens its secrets, which needs keys of its own.
    for (let i = 0; i < 2; i += 1) {
      hmacBytes = 0;
      await sendRaw(world.webhooksUrl(projectId), { headers: Object.entries(headers).flat(), body });
    }
    hmacs.push([name, Math.round(hmacBytes / body.length)]);
  }
  expect(hmacs).toEqual(cases.map(([name]) => [name, 2]));
});

it('a verified webhook costs one HMAC of its body for each active secret', async () => {
  const project = await seedProject(world);
  const headers = ['X-Webhook-Id', 'evt_1', ...Object.entries(signAsProvider(project, body)).flat()];
  hmacBytes = 0;
  const answer = await sendRaw(world.webhooksUrl(project.id), { headers, body });
  expect(answer.statusCode).toBe(202);
  expect(Math.round(hmacBytes / body.length)).toBe(1);
});
