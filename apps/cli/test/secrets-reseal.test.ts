import { randomBytes } from 'node:crypto';
import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import { createCertificates } from '@hqrelay/testing/certificates';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const secret = 'a secret of the provider that is long enough';
const certificates = createCertificates();
const client = certificates.issue('relay.example');
const newKey = randomBytes(32).toString('base64');

const world = await openCliWorld();

describe('secrets reseal', () => {
  let oldKey: string;
  let projectId: string;

  beforeAll(async () => {
    oldKey = world.env['HQRELAY_SECRETS_KEY'] as string;
    projectId = await world.createProject('--secret', secret);
    const clientCertificate = ['--client-cert', client.certificateFile, '--client-key', client.keyFile];
    const url = 'https://example.com/hook';
    await world.addEndpoint(projectId, url, '--header', 'x-key: one', ...clientCertificate);
  });

  afterAll(() => certificates.remove());

  /** The secrets of the project as an app with this key opens them, and the number that it cannot open. */
  async function openedWith(key: string) {
    const config = (await readProjectConfig(world.sql, projectId)) as ProjectConfig;
    let unreadable = 0;
    const secrets = new OpenedSecrets(parseSecretKeys(key), () => (unreadable += 1));
    const [endpoint] = config.endpoints;
    const opened = {
      project: secrets.ofProject(config, Date.now()).map((each) => each.key),
      endpoint: secrets.ofEndpoint(endpoint!, Date.now()).map((each) => each.key),
      headers: secrets.headersOf(endpoint!),
      tls: secrets.tlsOf(endpoint!).client,
    };
    return { ...opened, unreadable };
  }

  const reseal = (key: string) =>
    world.runWith({ HQRELAY_SECRETS_KEY: key }, ['secrets', 'reseal', '--json']);

  it('secrets reseal without the key that sealed a secret fails, says so, and changes nothing', async () => {
    const before = await openedWith(oldKey);
    const outcome = await reseal(newKey);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/4 could not be opened: .*which HQRELAY_SECRETS_KEY does not list/);
    expect(await openedWith(oldKey)).toEqual(before);
  });

  it('secrets reseal encrypts every kind of secret with the first key, so that the old key is not needed', async () => {
    const before = await openedWith(oldKey);
    expect(before).toMatchObject({
      project: [secret],
      headers: [['x-key', 'one']],
      tls: { key: client.key },
      unreadable: 0,
    });
    const announced = await world.announcements();
    expect(jsonOf(await reseal(`${newKey},${oldKey}`))).toEqual({ resealed: 4 });
    expect(await openedWith(newKey)).toEqual(before);
    expect((await openedWith(oldKey)).unreadable).toBe(4);
    expect(announced).toContain(projectId);
  });

  it('a second secrets reseal changes nothing and announces nothing', async () => {
    const announced = await world.announcements();
    expect(jsonOf(await reseal(`${newKey},${oldKey}`))).toEqual({ resealed: 0 });
    expect(announced).not.toContain(projectId);
  });

  it('secrets reseal writes one admin_log row for each project, without a secret', async () => {
    const { rows } = await world.sql.query<{ project_id: string; details: object }>(
      "select project_id, details from admin_log where action = 'secret.reseal'",
    );
    const keyId = parseSecretKeys(newKey).current.id;
    expect(rows).toEqual([{ project_id: projectId, details: { resealed: 4, keyId } }]);
  });
});
