import { deliveryId, idOfBytes } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { seedEndpoint } from '@hqrelay/testing/seed';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

afterEach(() => {
  const errors = world.errors().filter(({ msg }) => msg !== 'message.unreadable');
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
});

describe('a message', () => {
  it.each([
    ['that is empty', Buffer.alloc(0)],
    ['of random bytes', Buffer.from('deadbeefdeadbeef', 'hex')],
    ['of another version', Buffer.concat([Buffer.from([0, 0, 0, 7]), Buffer.from('{"v":9}')])],
  ])('a message %s is parked with its bytes and the reason', async (_what, content) => {
    await world.send(content);
    const letter = await world.waitForDeadLetter(idOfBytes(content));
    expect(letter).toMatchObject({ kind: 'message', reason: expect.stringMatching(/./), project_id: null });
    expect(letter.content?.equals(content)).toBe(true);
  });

  it.each([
    ['whose id is not a UUID', { id: 'no-uuid' }],
    ['whose id is not a UUIDv7', { id: '7d444840-9dc0-11d1-b245-5ffdce74fad2' }],
    ['whose project id is not a UUID', { projectId: 'no-uuid' }],
    ['whose endpoint id is not a UUID', { endpointIds: ['no-uuid'] }],
  ])('a message %s is parked at once', async (_what, changes) => {
    const content = world.message(freshId(), { endpointIds: [freshId()], ...changes });
    await world.send(content);
    const letter = await world.waitForDeadLetter(idOfBytes(content));
    expect(letter.kind).toBe('message');
    expect(letter.content?.equals(content)).toBe(true);
  });

  it('a message for an endpoint that does not exist is a dead letter of its delivery, with that reason', async () => {
    const { projectId } = await world.seed({});
    const unknown = freshId();
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [unknown] }));
    expect(await world.waitForDeadLetter(deliveryId(id, unknown))).toMatchObject({
      kind: 'delivery',
      reason: expect.stringContaining(unknown),
      project_id: projectId,
      webhook_log_id: id,
      endpoint_id: unknown,
      content: null,
    });
  });

  it('a message for an endpoint that is newer than the configuration cached by the worker is delivered', async () => {
    const { projectId, endpoints } = await world.seed({});
    const before = freshId();
    await world.send(world.message(projectId, { id: before, endpointIds: [endpoints[0]!.id] }));
    await world.waitForAttempts(before, 1);

    const endpoint = await startRecordingEndpoint();
    try {
      const added = await seedEndpoint(world, projectId, { url: endpoint.url });
      const id = freshId();
      await world.send(world.message(projectId, { id, endpointIds: [added.id] }));
      await waitFor('the message to wait', () => world.publishedOf(id).length > 0);
      expect(await world.deadLettersOf(id)).toEqual([]);
      await world.forget(projectId);
      await world.waitForAttempts(id, 1);
      expect(endpoint.requests).toHaveLength(1);
      expect(await world.deadLettersOf(id)).toEqual([]);
    } finally {
      await endpoint.close();
    }
  });
});
