import { load } from './observed-load.ts';
import type { PrometheusWorld } from './prometheus-world.ts';

type Expected = Readonly<Record<string, (value: number) => boolean>>;

export const accepted = load.delivered + load.failing + load.delayed + load.paused;
export const failed = load.failing + load.delayed;
export const attempts = load.delivered + failed + load.failing;

/** Large messages that a worker takes at once, with the BODY_BYTES_MAX of this world. */
export const heldByWorker = 7;

const exactly = (count: number) => (value: number) => value === count;
const within = (from: number, to: number) => (value: number) => value >= from && value <= to;
/** What one process can show on any machine. */
const positive = within(Number.MIN_VALUE, 1e3);
const share = within(
  (attempts - load.delivered) / attempts - 0.05,
  (attempts - load.delivered) / attempts + 0.05,
);
const quantiles = (from: number, to: number) => ({
  p50: within(from, to),
  p95: within(from, to),
  p99: within(from, to),
});

/** What each panel from Prometheus shows, by title and legend, with rates over so many seconds. */
export function expectedPanels(
  world: PrometheusWorld,
  rateSeconds: number,
): Readonly<Record<string, Expected>> {
  /** Prometheus extrapolates by up to a scrape at either end. */
  const rateOf = (count: number) => within((count / rateSeconds) * 0.9, (count / rateSeconds) * 1.3 + 1e-9);
  const [one, other] = world.workers.map(({ port }) => `127.0.0.1:${port}`) as [string, string];
  const receiver = `127.0.0.1:${world.receiver.port}`;
  const each = (check: (value: number) => boolean): Expected => ({
    [`hqrelay-receiver ${receiver}`]: check,
    [`hqrelay-worker ${one}`]: check,
    [`hqrelay-worker ${other}`]: check,
    [`hqrelay-console 127.0.0.1:${world.console.port}`]: check,
  });
  const stores = ['postgres', 'rabbitmq', 'redis'];
  return {
    Accepted: { accepted: rateOf(accepted) },
    Delivered: { delivered: rateOf(load.delivered) },
    'Failed attempts': { failed: share },
    'Oldest new webhook': { age: exactly(0) },
    'Dead letters': { 'dead letters': exactly(load.failing) },
    'Dependencies down': { down: exactly(0) },
    Received: {
      queued: rateOf(accepted),
      duplicate: rateOf(load.duplicates),
      rejected: rateOf(load.rejected),
      conflict: exactly(0),
      handshake: exactly(0),
      rate_limited: exactly(0),
      failed_to_queue: exactly(0),
    },
    Attempts: {
      delivered: rateOf(load.delivered),
      failed: rateOf(failed),
      dead_lettered: rateOf(load.failing),
      gone: exactly(0),
    },
    'Retry rate': { failed: share },
    // In seconds: an endpoint answers after two. How long the rest takes depends on the machine.
    'Received to delivered': quantiles(1, 1e3),
    'Answers to providers': {
      p50: positive,
      p95: positive,
      p99: positive,
      'confirm of the broker, p99': positive,
    },
    'Duration of attempts': quantiles(1, 1e3),
    'Waiting messages': { 'hqrelay.delay.10m': exactly(load.delayed) },
    'Oldest message': {
      'hqrelay.webhooks': exactly(0),
      'hqrelay.retries': exactly(0),
      'hqrelay.replays': exactly(0),
    },
    'Held deliveries': {
      paused: exactly(load.paused),
      delay: exactly(0),
      disabled: exactly(0),
      order: exactly(0),
      breaker: exactly(0),
    },
    'Outbox and spill': { outbox: exactly(0), 'audit spill': exactly(0) },
    'Projects near their limits': { projects: exactly(0) },
    'Silent projects and broken alert channels': {
      'silent projects': exactly(0),
      'broken channels': exactly(0),
    },
    // On a busy machine Postgres may take longer than a process waits. The test of the alerts makes rows spill.
    'Spilled audit rows': { 'rows a second': within(0, 1e3) },
    Dependencies: {
      ...Object.fromEntries(
        ['hqrelay-receiver', 'hqrelay-worker'].flatMap((job) =>
          stores.map((store) => [`${job} ${store}`, exactly(1)]),
        ),
      ),
      'hqrelay-console postgres': exactly(1),
      'hqrelay-console redis': exactly(1),
    },
    'Deliveries in flight': { [one]: exactly(0), [other]: exactly(0) },
    'Open breakers': { breakers: exactly(0) },
    // An idle console uses less than a thousandth of a core.
    CPU: each(positive),
    Memory: each(within(20e6, 2e9)),
    'Alarms of RabbitMQ': { memory: exactly(0), disk: exactly(0) },
    Clocks: { [one]: within(0, 60), [other]: within(0, 60) },
    'Partitions ahead': { months: within(3, 4) },
    'Event loop': each(within(0, 1e3)),
  };
}
