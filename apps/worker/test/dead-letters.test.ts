import { Postgres } from '@hqrelay/db/postgres';
import { deliveryId, idOfBytes } from '@hqrelay/domain/ids';
import { decodeMessage, type Envelope } from '@hqrelay/queue/messages';
import { encodeParked } from '@hqrelay/queue/parked';
import { deadLetterQueue } from '@hqrelay/queue/topology';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, it } from 'vitest';
import { createBacklogGauges, createMeasureBacklog } from '../src/jobs/measure-backlog.ts';
import { createStoreDeadLetters, type StoreDeadLettersDeps } from '../src/jobs/store-dead-letters.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

afterEach(async () => {
  await world.sql.query('delete from dead_letters');
  world.logs.length = 0;
  world.clock.aheadMs = 0;
});

/** The dependencies of a job of the test's own, whose pause after a refusal delays no other test. */
function storeDeadLettersDeps(): StoreDeadLettersDeps {
  const { postgres, publishing: connection, publisher, logger, now } = world;
  return { postgres, connection, publisher, logger, now };
}

/** A dead letter of a delivery, and its message as the worker parks it. */
function deadDelivery(reason = 'HTTP 500 at attempt 6, the last') {
  const [id, endpointId] = [freshId(), freshId()];
  const fields = {
    deliveryId: deliveryId(id, endpointId),
    endpointId,
    attemptNum: 6,
    lane: 'retry' as const,
  };
  const content = world.message(freshId(), {
    id,
    endpointIds: [endpointId],
    delivery: { ...fields, notBefore: 0 },
  });
  return {
    id,
    deliveryId: fields.deliveryId,
    content,
    parked: encodeParked({ v: 1, kind: 'delivery', reason }, content),
  };
}

const idsInSql = async () => {
  const { rows } = await world.sql.query<{ id: string }>('select id from dead_letters order by id');
  return rows.map(({ id }) => id);
};

describe('dead letters in the queue', () => {
  it('dead letters are stored in batches, with characters that Postgres refuses replaced in their reasons', async () => {
    const letters = Array.from({ length: 450 }, (_, index) => deadDelivery(`no. ${index}\0\ud800`));
    await Promise.all(letters.map(({ parked }) => world.sendToDeadLetters(parked)));
    expect(await world.storeDeadLetters()).toBe(450);
    expect(await idsInSql()).toEqual(letters.map((each) => each.deliveryId).toSorted());
    const [row] = await world.deadLettersOf(letters[7]!.id);
    expect(row).toMatchObject({ reason: 'no. 7\ufffd\ufffd', kind: 'delivery', content: null });
    expect(await world.storeDeadLetters()).toBe(0);
  });

  it('a dead letter is stored once when the worker dies between the commit and the acknowledgement', async () => {
    const letter = deadDelivery();
    await world.sendToDeadLetters(letter.parked);
    const dying = createStoreDeadLetters({
      ...storeDeadLettersDeps(),
      connection: {
        health: world.publishing.health,
        pullBatches: (queue, limits, handle) =>
          world.publishing.pullBatches(queue, limits, async (contents) => {
            await handle(contents);
            throw new Error('killed');
          }),
      },
    });
    await expect(dying()).rejects.toThrow('killed');
    const [before] = await world.deadLettersOf(letter.id);
    await waitFor('the queue to be empty', async () => {
      await world.storeDeadLetters();
      return (await world.depthOf(deadLetterQueue)) === 0;
    });
    expect(await world.deadLettersOf(letter.id)).toEqual([before]);
  });

  it('dead letters stay in the queue while Postgres is down', async () => {
    const letter = deadDelivery();
    await world.sendToDeadLetters(letter.parked);
    const storeDeadLetters = createStoreDeadLetters(storeDeadLettersDeps());
    world.postgres.markDown(new Error('down'));
    expect(await storeDeadLetters()).toBe(0);
    expect(await world.storeDeadLetters()).toBe(1);
    expect(await world.deadLettersOf(letter.id)).toHaveLength(1);
  });

  it('a dead letter that Postgres refuses is logged, delays no other, and is tried again a minute later', async () => {
    await world.sql.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create trigger refuse before insert on dead_letters for each row when (new.reason = 'refused') execute function refuse()`,
    );
    // A job of its own, because it pauses after a refusal.
    const storeDeadLetters = createStoreDeadLetters(storeDeadLettersDeps());
    await world.waitUntilUp();
    const letters = Array.from({ length: 9 }, (_, index) => deadDelivery(index === 4 ? 'refused' : 'fine'));
    for (const { parked } of letters) await world.sendToDeadLetters(parked);
    const refused = letters[4]!;
    expect(await storeDeadLetters()).toBe(8);
    expect(await idsInSql()).not.toContain(refused.deliveryId);
    expect(world.errors()).toMatchObject([{ msg: 'dead_letter.not_stored', id: refused.deliveryId }]);
    await waitFor('it to be back', async () => (await world.depthOf(deadLetterQueue)) === 1);

    await world.sql.query('drop trigger refuse on dead_letters');
    expect(await storeDeadLetters()).toBe(0);
    world.clock.aheadMs = 60_000;
    expect(await storeDeadLetters()).toBe(1);
    expect(await idsInSql()).toContain(refused.deliveryId);
  });

  it('dead letters are counted until they are replayed, in the queue as in the table', async () => {
    const registry = createRegistry();
    const gauges = createBacklogGauges(registry);
    const { publishing: connection } = world;
    const count = async (postgres = world.postgres) => {
      await createMeasureBacklog({ ...world, postgres, connection, gauges })();
      return (await gauges.deadLetters.get()).values[0]?.value;
    };
    const letters = [deadDelivery(), deadDelivery()] as const;
    for (const { parked } of letters) await world.sendToDeadLetters(parked);
    await waitFor('both in the queue', async () => (await count()) === 2);
    await world.storeDeadLetters();
    await world.sendToDeadLetters(Buffer.from('poison'));
    await world.storeDeadLetters();
    await waitFor('the queue to be empty', async () => (await world.depthOf(deadLetterQueue)) === 0);
    await waitFor('both in the table', async () => (await count()) === 2);
    await world.sql.query('update dead_letters set replay_id = $1, replayed_at = now() where id = $2', [
      freshId(),
      letters[0].deliveryId,
    ]);
    await waitFor('the other one', async () => (await count()) === 1);
    // While one of the two stores is unavailable, the gauge keeps its last value.
    await world.sendToDeadLetters(Buffer.from('more poison'));
    const unavailable = new Postgres({
      url: world.databaseUrl,
      applicationName: 'unavailable',
      max: 1,
      onChange: () => {},
    });
    expect(await count(unavailable)).toBe(1);
    await unavailable.close();
    await world.storeDeadLetters();
  });
});

describe('a message that the broker moved at its delivery limit', () => {
  async function seeded(envelope: Partial<Envelope> = {}) {
    const { projectId, endpoints } = await world.seed({ retry: '1h' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    const id = freshId();
    const content = world.message(projectId, { id, endpointIds: [endpointId], ...envelope });
    return { id, projectId, endpointId, endpoint, content };
  }

  it('a message at its delivery limit is put back once, and delivered', async () => {
    const { id, endpoint, content } = await seeded();
    await world.sendToDeadLetters(content);
    expect(await world.storeDeadLetters()).toBe(1);
    expect(await world.waitForAttempts(id, 1)).toMatchObject([{ attempt_num: 1, status: 'delivered' }]);
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.deadLettersOf(id)).toEqual([]);
    expect(world.logs).toContainEqual(expect.objectContaining({ msg: 'message.put_back', id }));
  });

  it('a message at its delivery limit whose attempt is recorded is not posted again', async () => {
    const { id, endpoint, content } = await seeded();
    await world.send(content);
    await world.waitForAttempts(id, 1);
    await world.sendToDeadLetters(content);
    expect(await world.storeDeadLetters()).toBe(1);
    // Once this later message is delivered, the one that was put back has been handled.
    const after = await seeded();
    await world.send(after.content);
    await world.waitForAttempts(after.id, 1);
    expect(endpoint.requests).toHaveLength(1);
  });

  it('a message at its delivery limit that was fanned out delivers none of its deliveries again', async () => {
    const { projectId, endpoints } = await world.seed({}, {});
    const id = freshId();
    const content = world.message(projectId, { id, endpointIds: endpoints.map((each) => each.id) });
    await world.send(content);
    await world.waitForAttempts(id, 2);
    await world.sendToDeadLetters(content);
    await world.storeDeadLetters();
    await waitFor('it to be fanned out again', () => world.publishedOf(id).length === 4);
    const after = await seeded();
    await world.send(after.content);
    await world.waitForAttempts(after.id, 1);
    for (const { endpoint } of endpoints) expect(endpoint.requests).toHaveLength(1);
  });

  it('a message that was put back once is not put back again, although its project was unavailable', async () => {
    const { id, endpointId, content } = await seeded();
    const { findProject } = world.deps;
    world.deps.findProject = () => ({ kind: 'unavailable' });
    try {
      await world.sendToDeadLetters(content);
      await world.storeDeadLetters();
      const delayed = await waitFor('the message to be delayed', () =>
        world.published.find(
          ({ exchange, body }) => exchange.startsWith('hqrelay.delay') && body.includes(id),
        ),
      );
      const decoded = decodeMessage(delayed.body);
      expect(decoded).toMatchObject({
        message: { envelope: { putBack: true, mayBeDuplicate: 'resume_if_recorded' } },
      });
      // As if workers had requeued this message until the broker moved it.
      await world.sendToDeadLetters(delayed.body);
      expect(await world.waitForDeadLetter(deliveryId(id, endpointId))).toMatchObject({
        kind: 'delivery',
        reason: expect.stringContaining('twice'),
      });
    } finally {
      world.deps.findProject = findProject;
    }
  });

  it('a message at its delivery limit that cannot be decoded is stored as a dead letter with its bytes', async () => {
    const content = Buffer.from('not a message');
    await world.sendToDeadLetters(content);
    const letter = await world.waitForDeadLetter(idOfBytes(content));
    expect(letter).toMatchObject({ kind: 'message', webhook_log_id: null });
    expect(letter.content?.equals(content)).toBe(true);
  });
});
