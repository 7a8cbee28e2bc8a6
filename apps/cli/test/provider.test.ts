import { presets } from '@hqrelay/domain/providers/presets';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openCliWorld();
const create = ['project', 'create', '--name', 'Acme'];

describe('provider list and show', () => {
  it('provider list has every provider, with what its verification covers and how sure its facts are', async () => {
    const list = jsonOf(await world.run('provider', 'list', '--json')) as object[];
    expect(list).toHaveLength(presets.length);
    expect(list).toContainEqual({ name: 'stripe', title: 'Stripe', strength: 'body', evidence: 'sdk' });
  });

  it('provider show says what to paste where, and marks facts that are not verified', async () => {
    const { stdout } = await world.run('provider', 'show', 'telegram');
    expect(stdout).toContain('Call setWebhook with url http');
    expect(stdout).toContain('NOT verified');
    const shown = jsonOf(await world.run('provider', 'show', 'meta', '--json'));
    expect(shown).toMatchObject({ name: 'meta', settings: [{ name: 'verify-token', isRequired: true }] });
  });

  it('provider show warns where the provider refuses the URL of this relay', async () => {
    const env = { PUBLIC_URL: 'https://sr.example.com' };
    const { stderr } = await world.runWith(env, ['provider', 'show', 'shiprocket']);
    expect(stderr).toContain('warning: Shiprocket refuses URLs that contain sr');
    const other = await world.runWith({ PUBLIC_URL: 'https://hooks.example.com' }, [
      'provider',
      'show',
      'shiprocket',
    ]);
    expect(other.stderr).toBe('');
  });

  it('a provider that does not exist is wrong usage, with a similar name', async () => {
    const outcome = await world.run('provider', 'show', 'strip');
    expect(outcome).toMatchObject({ exitCode: 2 });
    expect(outcome.stderr).toContain('is it stripe');
  });
});

describe('a project of a provider', () => {
  it('project create prints the steps at the provider and what its verification covers', async () => {
    const { stdout } = await world.run(...create, '--provider', 'github');
    expect(stdout).toMatch(/Payload URL http.*\/v1\/webhooks\/[0-9a-f-]{36}/);
    expect(stdout).toContain('Verification covers the whole body');
  });

  it('a project takes the conflict rule and the window of its provider, unless it says otherwise', async () => {
    const rules = async (...options: string[]) => {
      const id = await world.createProject(
        '--provider',
        'stripe',
        '--secret',
        'whsec_of_stripe_1',
        ...options,
      );
      const { rows } = await world.sql.query<object>(
        'select provider, on_conflict, idempotency_ttl_seconds from projects where id = $1',
        [id],
      );
      return rows[0];
    };
    expect(await rules()).toEqual({
      provider: 'stripe',
      on_conflict: 'duplicate',
      idempotency_ttl_seconds: 4 * 86_400,
    });
    expect(await rules('--on-conflict', 'reject', '--idempotency-ttl', '1h')).toMatchObject({
      on_conflict: 'reject',
      idempotency_ttl_seconds: 3_600,
    });
  });

  it('the settings of a provider are stored sealed, and an update keeps those that it does not name', async () => {
    const id = await world.createProject(
      '--provider',
      'braintree',
      '--secret',
      'a private key of Braintree',
      '--setting',
      'public-key=pk_planted',
    );
    const { rows } = await world.sql.query<{ text: string }>(
      `select concat(p::text, (select string_agg(details::text, '') from admin_log where project_id = p.id)) as text
       from projects p where id = $1`,
      [id],
    );
    expect(rows[0]?.text).not.toContain('pk_planted');
    jsonOf(await world.run('project', 'update', id, '--setting', 'public-key=pk_other', '--json'));
    const outcome = await world.run('project', 'update', id, '--setting', 'other=x');
    expect(outcome).toMatchObject({ exitCode: 2 });
    expect(outcome.stderr).toContain('braintree has no setting other; it has public-key');
  });

  it('a missing setting, and a secret that the provider makes itself, are warnings', async () => {
    const { exitCode, stderr } = await world.run(...create, '--provider', 'meta');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('needs the setting verify-token');
    expect(stderr).toContain('makes the secret itself');
  });

  it('a secret that does not have the form of the provider is refused, and not repeated', async () => {
    const secret = 'no-hexadecimal-key-at-all';
    const outcome = await world.run(...create, '--provider', 'discord', '--secret', secret);
    expect(outcome).toMatchObject({ exitCode: 2 });
    expect(outcome.stderr).toContain('does not have the form');
    expect(outcome.stderr).not.toContain(secret);
  });

  it('--require-timestamp is refused for a provider with rules of its own', async () => {
    const outcome = await world.run(...create, '--provider', 'stripe', '--require-timestamp');
    expect(outcome).toMatchObject({ exitCode: 2 });
  });

  it('a scheme of a file replaces that of the preset, and a wrong one is refused with the reason', async () => {
    const scheme = {
      kind: 'hmac',
      alg: 'sha512',
      key: 'utf8',
      encoding: 'base64',
      signature: { from: 'header:x-acme-signature' },
      message: '{body}',
    };
    const withScheme = (value: object) =>
      world.runWith({}, [...create, '--scheme', '-', '--json'], Buffer.from(JSON.stringify(value)));
    const { projectId } = jsonOf(await withScheme(scheme)) as { projectId: string };
    const { rows } = await world.sql.query<{ scheme: object }>('select scheme from projects where id = $1', [
      projectId,
    ]);
    expect(rows[0]?.scheme).toEqual(scheme);
    const refused = await withScheme({ ...scheme, message: 'no body' });
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain('the message does not contain {body}');
    jsonOf(await world.run('project', 'update', projectId, '--no-scheme', '--json'));
  });
});

describe('send', () => {
  it('send signs as the provider of the project does, with the id and the type where the provider puts them', async () => {
    const receiver = await startRecordingEndpoint();
    onTestFinished(() => receiver.close());
    const projectId = await world.createProject('--provider', 'stripe', '--secret', 'whsec_of_stripe_1');
    const env = { RECEIVER_PORT: new URL(receiver.url).port };
    await world.runWith(env, [
      'send',
      '--project',
      projectId,
      '--webhook-id',
      'evt_1',
      '--event-type',
      'charge.succeeded',
    ]);
    const [request] = receiver.requests;
    expect(request?.headers['stripe-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    expect(JSON.parse(String(request?.body))).toMatchObject({ id: 'evt_1', type: 'charge.succeeded' });
  });

  it('send says why it cannot sign where only the provider has the key', async () => {
    const key = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
    const projectId = await world.createProject('--provider', 'discord', '--secret', key);
    const outcome = await world.run('send', '--project', projectId);
    expect(outcome).toMatchObject({ exitCode: 1 });
    expect(outcome.stderr).toContain('only the provider can sign');
  });
});
