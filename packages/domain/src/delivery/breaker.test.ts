import { describe, expect, it } from 'vitest';
import { afterFailures, afterSuccess, claimProbe, passageOf, type Breaker } from './breaker.ts';

const t0 = 1_700_000_000_000;

function failed(breaker: Breaker | undefined, count: number, since: number, now: number, probed = false) {
  return afterFailures(breaker, { count, since, now, probed });
}

const open = () => failed(undefined, 10, t0, t0 + 10_000);

describe('a breaker', () => {
  it('a breaker stays closed through a burst of failures that is over in less than ten seconds', () => {
    const breaker = failed(undefined, 5_000, t0, t0 + 9_999);
    expect(passageOf(breaker, t0 + 9_999)).toBe('closed');
  });

  it('a breaker stays closed through fewer than ten failures, however long they last', () => {
    const breaker = failed(failed(undefined, 5, t0, t0), 4, t0 + 600_000, t0 + 600_000);
    expect(passageOf(breaker, t0 + 600_000)).toBe('closed');
  });

  it('a breaker opens after ten failures in a row over ten seconds', () => {
    const breaker = failed(failed(undefined, 5, t0, t0), 5, t0 + 9_000, t0 + 10_000);
    expect(breaker).toMatchObject({ state: 'open', openedAt: t0 + 10_000, failures: 10, failingSince: t0 });
    expect(passageOf(breaker, t0 + 10_000)).toBe('open');
  });

  it('a success restarts the failure count of a breaker', () => {
    const succeeded = afterSuccess(failed(undefined, 9, t0, t0 + 60_000), t0 + 60_000);
    expect(succeeded).toBeUndefined();
    expect(failed(succeeded, 9, t0 + 60_000, t0 + 61_000).state).toBe('closed');
  });

  it('a breaker grants one probe when its interval ends, and no other before the lease of that one ends', () => {
    const breaker = open();
    const probeAt = breaker.probeAt as number;
    expect(probeAt).toBe(t0 + 15_000);
    expect(claimProbe(breaker, { now: probeAt - 1, leaseMs: 12_000 })).toBeUndefined();
    const claimed = claimProbe(breaker, { now: probeAt, leaseMs: 12_000 });
    expect(claimed).toMatchObject({ state: 'half_open', probeAt: probeAt + 12_000 });
    expect(claimProbe(claimed, { now: probeAt + 11_999, leaseMs: 12_000 })).toBeUndefined();
    expect(claimProbe(claimed, { now: probeAt + 12_000, leaseMs: 12_000 })).toBeDefined();
  });

  it('a breaker doubles its interval after each failed probe, up to 30 seconds', () => {
    let breaker = open();
    const waits: number[] = [];
    for (let probes = 0; probes < 5; probes += 1) {
      const now = breaker.probeAt as number;
      breaker = failed(claimProbe(breaker, { now, leaseMs: 1_000 }), 1, now, now, true);
      waits.push((breaker.probeAt as number) - now);
    }
    expect(waits).toEqual([10_000, 20_000, 30_000, 30_000, 30_000]);
  });

  it('a breaker keeps its interval when attempts that began before it opened fail', () => {
    const breaker = open();
    expect(failed(breaker, 200, t0 + 9_000, t0 + 12_000).probeAt).toBe(breaker.probeAt);
  });

  it('a breaker closes when its probe succeeds', () => {
    const now = t0 + 15_000;
    const closed = afterSuccess(claimProbe(open(), { now, leaseMs: 1_000 }) as Breaker, now);
    expect(closed).toMatchObject({ state: 'closed', failures: 0, closedAt: now });
    expect(passageOf(closed, now)).toBe('closed');
  });

  it('a breaker that closed less than a minute ago opens again at ten failures, however quick', () => {
    const closed = afterSuccess(open(), t0 + 20_000);
    expect(failed(closed, 9, t0 + 21_000, t0 + 21_000).state).toBe('closed');
    expect(failed(closed, 10, t0 + 21_000, t0 + 21_000).state).toBe('open');
    expect(failed(closed, 10, t0 + 90_000, t0 + 90_000).state).toBe('closed');
  });

  it('a closed breaker is dropped at the first success after one minute', () => {
    const closed = afterSuccess(open(), t0 + 20_000) as Breaker;
    expect(afterSuccess(closed, t0 + 79_999)).toBeDefined();
    expect(afterSuccess(closed, t0 + 80_000)).toBeUndefined();
  });
});
