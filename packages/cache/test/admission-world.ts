import { randomUUID } from 'node:crypto';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { admit, type Admission } from '../src/admission/admit.ts';
import { acceptKeys, releaseKeys } from '../src/admission/end-reservation.ts';
import { Cache } from '../src/client.ts';

export type Held = Extract<Admission, { kind: 'held' }>;
export type Asked = Parameters<typeof admit>[1] & Parameters<typeof acceptKeys>[1];

/** A client of the run's Redis, and a new project for each test, until the file's tests are over. */
export function openAdmission() {
  const cache = new Cache({
    url: inject('run').redis,
    name: 'test',
    onChange: () => {},
    answerWithinMs: 30_000,
  });
  let projectId = '';
  beforeAll(async () => {
    cache.start();
    await waitFor('Redis', () => cache.health.isUp);
  });
  afterAll(() => cache.close());
  beforeEach(() => {
    projectId = randomUUID();
  });

  /** Asks again with the same token while a busy machine makes Redis late. */
  const ask = (of: Parameters<typeof admit>[1]) => waitFor('Redis to answer', () => admit(cache, of));
  return {
    cache,
    ask,
    projectId: () => projectId,
    request: (fields: Partial<Asked> = {}): Asked => ({
      projectId,
      webhookId: 'evt_1',
      id: randomUUID(),
      payloadSha256: 'aa',
      token: randomUUID(),
      rateLimitPerMinute: null,
      idempotencyTtlSeconds: 3_600,
      contentKeys: [],
      ...fields,
    }),
    async reserve(of: Parameters<typeof admit>[1]): Promise<Held> {
      const admission = await ask(of);
      if (admission.kind !== 'held') throw new Error(`answered ${JSON.stringify(admission)}`);
      return admission;
    },
    accept: (of: Parameters<typeof acceptKeys>[1]) => waitFor('the mark', () => acceptKeys(cache, of)),
    release: (of: Parameters<typeof releaseKeys>[1]) => waitFor('the mark', () => releaseKeys(cache, of)),
  };
}
