import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { findPreset } from '@hqrelay/domain/providers/presets';
import { signRequest } from '@hqrelay/domain/providers/signature/sign-request';
import { seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld, sendRaw } from './receiver-world.ts';

const publicUrl = 'https://hooks.example.com';
const world = await openReceiverWorld({ PUBLIC_URL: publicUrl });

const seed = (
  provider: string,
  options: { secret?: string; providerSettings?: Record<string, string> } = {},
) => seedProject(world, { provider, ...options });

/** Posts as the provider does, which knows the URL as PUBLIC_URL has it. */
async function post(
  project: SeededProject,
  provider: string,
  body: string,
  { headers = {}, query = '' }: { headers?: Record<string, string>; query?: string } = {},
) {
  const known = `${publicUrl}/v1/webhooks/${project.id}${query}`;
  const draft = { method: 'POST', url: known, headers, body: Buffer.from(body) };
  const keys = { secrets: [{ id: 's', key: project.secret }] };
  const signed = signRequest(findPreset(provider)!.schemes, keys, draft, Date.now());
  return send(project, body, signed.headers, signed.url.slice(known.length - query.length));
}

function send(project: SeededProject, body: string, headers: Record<string, string> = {}, query = '') {
  return sendRaw(world.webhooksUrl(project.id) + query, {
    headers: Object.entries(headers).flat(),
    body: Buffer.from(body),
  });
}

describe('what a provider signs', () => {
  it('a Stripe event is accepted with 202 under the id and the type of its body', async () => {
    const project = await seed('stripe', { secret: 'whsec_of_stripe' });
    const answer = await post(project, 'stripe', '{"id":"evt_1","type":"charge.succeeded"}');
    expect(answer.statusCode).toBe(202);
    const [row] = await world.waitForLogs(project.id, 'queued');
    expect(row).toMatchObject({ webhook_id: 'evt_1', event_type: 'charge.succeeded' });
  });

  it('Square and HubSpot are verified against PUBLIC_URL, whatever the Host header says', async () => {
    for (const provider of ['square', 'hubspot']) {
      const project = await seed(provider);
      expect((await post(project, provider, '{"event_id":"e1"}', { query: '?a=1' })).statusCode).toBe(202);
      const forged = await post(project, provider, '{"event_id":"e2"}', {
        headers: { Host: 'other.example.com' },
      });
      expect(forged.statusCode).toBe(202);
      const headers = { 'x-square-hmacsha256-signature': hmac(project.secret, `http://evil/{}`) };
      expect((await send(project, '{}', headers)).statusCode).toBe(401);
    }
  });

  it('a signature with an Ed25519 key of Discord is verified with its public key', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const secret = publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('hex');
    const project = await seed('discord', { secret });
    const time = String(Math.floor(Date.now() / 1_000));
    const body = '{"type":1,"event":{"type":"APPLICATION_AUTHORIZED"}}';
    const signature = signBytes(null, Buffer.from(time + body), privateKey).toString('hex');
    const headers = { 'x-signature-ed25519': signature, 'x-signature-timestamp': time };
    expect(await send(project, body, headers)).toMatchObject({ statusCode: 204, text: '' });
    expect((await send(project, `${body} `, headers)).statusCode).toBe(401);
  });

  it('the token of a provider is taken off on receipt, and its place is remembered', async () => {
    const project = await seed('xendit', { secret: 'a token of the account' });
    const headers = { 'webhook-id': 'w1', 'x-callback-token': project.secret };
    const answer = await send(project, '{"event":"payment.capture"}', headers);
    expect(answer.statusCode).toBe(202);
    const { id } = JSON.parse(answer.text) as { id: string };
    const stored = await world.payloadOf(id);
    expect(JSON.stringify(stored)).not.toContain(project.secret);
    expect(stored?.headers.map(([name]) => name)).toContain('webhook-id');
    expect(stored?.credentials).toHaveLength(1);
    expect((await send(project, '{}', { 'x-callback-token': 'another' })).statusCode).toBe(401);
  });

  it('a token in the query is verified, and stored nowhere', async () => {
    const project = await seed('exotel', { secret: 'token-in-the-url' });
    const body = 'CallSid=c1&Status=completed&DateUpdated=now';
    const answer = await send(project, body, {}, '?token=token-in-the-url&a=1');
    expect(answer.statusCode).toBe(200);
    const { id } = JSON.parse(answer.text) as { id: string };
    expect((await world.payloadOf(id))?.query).not.toContain('token-in-the-url');
    expect((await send(project, body)).statusCode).toBe(401);
  });

  it('a project without verification accepts anything', async () => {
    const project = await seed('unverified-accept-anything');
    expect((await send(project, 'anything')).statusCode).toBe(202);
  });

  it('a body of Checkout.com that is no JSON is accepted, and one of Stripe is refused', async () => {
    const headers = { 'content-type': 'application/json' };
    const checkout = await seed('checkout-com');
    expect((await post(checkout, 'checkout-com', '{"id":"evt_', { headers })).statusCode).toBe(202);
    const stripe = await seed('stripe');
    expect((await post(stripe, 'stripe', '{"id":"evt_', { headers })).statusCode).toBe(400);
  });
});

describe('the answer that a provider wants', () => {
  it('WooCommerce gets 200 for a webhook and for the same one again', async () => {
    const project = await seed('woocommerce');
    const headers = { 'x-wc-webhook-delivery-id': 'd1', 'x-wc-webhook-topic': 'order.created' };
    for (const isReplay of [false, true]) {
      const answer = await post(project, 'woocommerce', '{"id":1}', { headers });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['idempotent-replayed']).toBe(isReplay ? 'true' : undefined);
    }
  });

  it('Telegram gets an empty 200', async () => {
    const project = await seed('telegram');
    const answer = await post(project, 'telegram', '{"update_id":1,"message":{}}');
    expect(answer).toMatchObject({ statusCode: 200, text: '' });
    expect(answer.headers['content-type']).toBeUndefined();
  });
});

describe('handshakes', () => {
  it('Meta gets its challenge back as text on GET when its token is right, and 405 otherwise', async () => {
    const project = await seed('meta', { providerSettings: { 'verify-token': 'vt' } });
    const ask = (token: string) =>
      fetch(
        `${world.webhooksUrl(project.id)}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158`,
      );
    const answer = await ask('vt');
    expect([answer.status, await answer.text()]).toEqual([200, '1158']);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await ask('other')).status).toBe(405);
  });

  it('Zoom gets the HMAC of its token for a signed request only, and nothing is queued', async () => {
    const project = await seed('zoom');
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}';
    const answer = await post(project, 'zoom', body);
    const encryptedToken = createHmac('sha256', project.secret).update('abc').digest('hex');
    expect(JSON.parse(answer.text)).toEqual({ plainToken: 'abc', encryptedToken });
    expect((await send(project, body)).statusCode).toBe(401);
    expect(await world.logsOf(project.id, 'queued')).toEqual([]);
  });

  it('the unsigned test of WooCommerce and the HEAD of Intercom are answered 200', async () => {
    const woocommerce = await seed('woocommerce');
    expect((await send(woocommerce, 'webhook_id=7')).statusCode).toBe(200);
    expect((await send(woocommerce, 'webhook_id=7&more=1')).statusCode).toBe(200);
    expect(await world.logsOf(woocommerce.id, 'queued')).toEqual([]);
    const intercom = await seed('intercom');
    expect((await fetch(world.webhooksUrl(intercom.id), { method: 'HEAD' })).status).toBe(200);
  });

  it('GET and HEAD are not allowed for a project whose provider has no handshake, nor for an unknown one', async () => {
    const generic = await seed('generic');
    const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
    for (const projectId of [generic.id, unknown, 'no-uuid']) {
      for (const method of ['GET', 'HEAD', 'PUT']) {
        expect((await fetch(world.webhooksUrl(projectId), { method })).status).toBe(405);
      }
    }
  });
});

it('no refusal tells a project of a provider from an unknown one', async () => {
  const stripe = await seed('stripe');
  const unknown = { ...stripe, id: '01890a5d-ac96-774b-bcce-b302099a8057' };
  const attempts: Record<string, string>[] = [
    {},
    { 'stripe-signature': 'nonsense' },
    { 'stripe-signature': `t=1,v1=${'0'.repeat(64)}` },
    { 'x-hub-signature-256': 'nonsense' },
    { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
  ];
  for (const headers of attempts) {
    const [one, other] = [await send(stripe, '{}', headers), await send(unknown, '{}', headers)];
    expect([one.statusCode, one.text]).toEqual([other.statusCode, other.text]);
  }
  const reasons = (await world.waitForLogs(stripe.id, 'rejected', attempts.length)).map(
    ({ reason }) => reason,
  );
  expect(reasons[1]).toBe('signature.malformed stripe-signature is not v1=<hex of 32 bytes>');
});

function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}
