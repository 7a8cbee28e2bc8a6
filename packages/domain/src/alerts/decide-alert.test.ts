import { describe, expect, it } from 'vitest';
import { decideAlert, type AlertDecision, type AlertState, type Observation } from './decide-alert.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const windowMs = 15 * minute;

/** An alert whose clock the test moves; `told` has each message with its time. */
function openAlert({ isRepeated = false }: { isRepeated?: boolean } = {}) {
  let state: AlertState | undefined;
  const told: [at: number, message: AlertDecision['message']][] = [];
  const clock = { now: 0, snoozedUntil: null as number | null };
  return {
    told,
    clock,
    state: () => state,
    see(now: number, observation: Observation) {
      clock.now = now;
      const decision = decideAlert(state, observation, { ...clock, windowMs, isRepeated });
      state = decision.state;
      if (decision.message !== 'none') told.push([now, decision.message]);
    },
  };
}

const seen = (count = 1, lastAt: number | null = null) => ({ count, lastAt });

describe('decideAlert', () => {
  it('the first message is made 30 s after the first occurrence', () => {
    const alert = openAlert();
    for (const at of [0, 10, 29, 30, 35, 600]) alert.see(at * second, seen());
    expect(alert.told).toEqual([[30 * second, 'firing']]);
  });

  it('a condition that ends within 30 s is not told', () => {
    const alert = openAlert();
    alert.see(0, seen());
    alert.see(20 * second, undefined);
    expect(alert.told).toEqual([]);
    expect(alert.state()).toBeUndefined();
  });

  it('the end of a condition is told once, and forgotten after the window', () => {
    const alert = openAlert();
    for (const at of [0, 30]) alert.see(at * second, seen());
    for (const at of [60, 65, 70]) alert.see(at * second, undefined);
    expect(alert.told).toEqual([
      [30 * second, 'firing'],
      [60 * second, 'recovered'],
    ]);
    alert.see(30 * second + windowMs, undefined);
    expect(alert.state()).toBeUndefined();
  });

  it('a condition that flaps makes one firing message in a window', () => {
    const alert = openAlert();
    for (let at = 0; at < 60 * minute; at += 10 * second) {
      alert.see(at, Math.floor(at / (2 * minute)) % 2 === 0 ? seen() : undefined);
    }
    const firing = alert.told.filter(([, message]) => message === 'firing').map(([at]) => at);
    expect(firing.length).toBe(4);
    for (let index = 1; index < firing.length; index += 1) {
      expect(firing[index]! - firing[index - 1]!).toBeGreaterThanOrEqual(windowMs);
    }
    expect(alert.told.filter(([, message]) => message === 'recovered').length).toBe(4);
  });

  it('more dead letters are one message in the next window, with those that were told left out', () => {
    const alert = openAlert({ isRepeated: true });
    for (let at = 0; at <= 20 * minute; at += 5 * second) alert.see(at, seen(1 + at / second, at));
    expect(alert.told).toEqual([
      [30 * second, 'firing'],
      [30 * second + windowMs, 'firing'],
    ]);
  });

  it('a dead letter whose row comes late is told in the next window, also when others were replayed meanwhile', () => {
    const alert = openAlert({ isRepeated: true });
    for (const at of [0, 30]) alert.see(at * second, seen(5, 20 * second));
    alert.see(40 * second, seen(2, 20 * second));
    alert.see(30 * minute, seen(3, 10 * second));
    expect(alert.told).toEqual([
      [30 * second, 'firing'],
      [30 * minute, 'firing'],
    ]);
  });

  it('what still holds is told once a day', () => {
    const alert = openAlert();
    for (let at = 0; at <= 49 * hour; at += minute) alert.see(at, seen());
    expect(alert.told.map(([at, message]) => [Math.round(at / hour), message])).toEqual([
      [0, 'firing'],
      [24, 'reminder'],
      [48, 'reminder'],
    ]);
  });

  it('nothing is told during a snooze, and what still holds is told after it', () => {
    const alert = openAlert();
    alert.clock.snoozedUntil = hour;
    for (let at = 0; at <= hour; at += minute) alert.see(at, seen());
    expect(alert.told).toEqual([[hour, 'firing']]);
  });

  it('an end during a snooze is told after it', () => {
    const alert = openAlert();
    for (const at of [0, 30]) alert.see(at * second, seen());
    alert.clock.snoozedUntil = hour;
    for (let at = minute; at <= hour; at += minute) alert.see(at, undefined);
    expect(alert.told).toEqual([
      [30 * second, 'firing'],
      [hour, 'recovered'],
    ]);
  });

  it('a pause by a person neither fires, nor reminds, nor recovers', () => {
    const alert = openAlert();
    alert.see(0, 'withheld');
    expect(alert.told).toEqual([]);
    for (const at of [0, 30]) alert.see(at * second, seen());
    for (let at = 1; at < 50; at += 1) alert.see(at * hour, 'withheld');
    alert.see(50 * hour, undefined);
    expect(alert.told.map(([, message]) => message)).toEqual(['firing', 'recovered']);
  });
});
