import { changeBreaker, dropQuietBreakers, readBreakers } from '../src/queries/endpoint-breakers.ts';
import { afterFailures } from '@hqrelay/domain/delivery/breaker';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld({ connectionsMax: 6 });

const t0 = Date.now();
const failedOnce = (since: number) => (before: Parameters<typeof afterFailures>[0]) =>
  afterFailures(before, { count: 1, since, now: since, probed: false });

describe('the breaker of an endpoint', () => {
  it('a breaker is stored field by field', async () => {
    const endpointId = freshId();
    const { before, after } = await changeBreaker(app, endpointId, () =>
      afterFailures(undefined, { count: 12, since: t0, now: t0 + 20_000, probed: false }),
    );
    expect(before).toBeUndefined();
    expect(after?.state).toBe('open');
    expect((await readBreakers(app)).get(endpointId)).toEqual(after);
  });

  it('concurrent workers change a breaker one after another, so that every failure counts', async () => {
    const endpointId = freshId();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => changeBreaker(app, endpointId, failedOnce(t0 + index))),
    );
    expect((await readBreakers(app)).get(endpointId)).toMatchObject({ failures: 20 });
  });

  it('a breaker is deleted when its change returns none', async () => {
    const endpointId = freshId();
    await changeBreaker(app, endpointId, failedOnce(t0));
    await changeBreaker(app, endpointId, () => undefined);
    expect((await readBreakers(app)).has(endpointId)).toBe(false);
  });

  it('a closed breaker is deleted after an hour without a change, an open one stays', async () => {
    const [quiet, open] = [freshId(), freshId()];
    await changeBreaker(app, quiet, failedOnce(t0));
    await changeBreaker(app, open, () =>
      afterFailures(undefined, { count: 12, since: t0, now: t0 + 20_000, probed: false }),
    );
    expect(await dropQuietBreakers(app)).toBe(0);
    await world.sql.query("update endpoint_breakers set updated_at = now() - interval '61 minutes'");
    await dropQuietBreakers(app);
    const breakers = await readBreakers(app);
    expect([breakers.has(quiet), breakers.has(open)]).toEqual([false, true]);
  });
});
