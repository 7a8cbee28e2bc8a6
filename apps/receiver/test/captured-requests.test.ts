import { signAsProvider } from '@hqrelay/testing/provider';
import { seedProject } from '@hqrelay/testing/seed';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld, sendRaw } from './receiver-world.ts';

const world = await openReceiverWorld();

describe('a captured request', () => {
  it('a request with a signed timestamp is a duplicate under another id, even with a respelled signature', async () => {
    const project = await seedProject(world, { requireTimestamp: true });
    const body = Buffer.from('{"event":"payment.captured"}');
    const signature = signAsProvider(project, body);
    const first = await post(project.id, { ...signature, 'X-Webhook-Id': 'evt_1' }, body);
    expect(first.statusCode).toBe(202);
    const upperCase = signature['x-hub-signature-256']!.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase());
    const captured = { ...signature, 'x-hub-signature-256': upperCase, 'X-Webhook-Id': 'evt_2' };
    const again = await post(project.id, captured, body);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
  });

  it('a request under another id is a new webhook where the signature covers the body alone', async () => {
    const project = await seedProject(world);
    const body = Buffer.from('{"event":"payment.captured"}');
    const signature = signAsProvider(project, body);
    const first = await post(project.id, { ...signature, 'X-Webhook-Id': 'evt_1' }, body);
    const second = await post(project.id, { ...signature, 'X-Webhook-Id': 'evt_2' }, body);
    expect(second.statusCode).toBe(202);
    expect(second.text).not.toBe(first.text);
  });
});

function post(projectId: string, headers: Record<string, string>, body: Buffer) {
  return sendRaw(world.webhooksUrl(projectId), { headers: Object.entries(headers).flat(), body });
}
