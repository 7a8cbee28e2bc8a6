import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { RunningServer } from '@hqrelay/services/running-server';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { BrokerConnection } from '../src/connection/broker-connection.ts';
import { Consumer } from '../src/consumer.ts';
import type { PublishResult } from '../src/publishing/publish-channel.ts';
import { Publisher } from '../src/publishing/publisher.ts';
import { auditQueue, delayName, workExchange } from '../src/topology.ts';

let world: World;
let broker: RunningServer;
let connection: BrokerConnection;
let consuming: BrokerConnection;
let publisher: Publisher;
let consumer: Consumer;
const received = new Set<string>();

const queue = 'hqrelay.webhooks';
/** Longer than a busy machine delays a confirm. */
const confirmTimeoutMs = 3_000;

beforeAll(async () => {
  world = await createWorld(inject('run'), { own: ['rabbitmq'] });
  broker = world.servers.rabbitmq!;
  const options = { urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} };
  connection = new BrokerConnection(options);
  consuming = new BrokerConnection(options);
  publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs, inFlightMax: 1_000 });
  consumer = new Consumer({
    queue,
    connection: consuming,
    prefetch: 50,
    handle: async ({ content }) => {
      received.add(content.toString('utf8', 0, 20).trim());
      return 'ack';
    },
    onError: () => {},
  });
  connection.start();
  consuming.start();
  await waitUntilUp();
});

afterAll(async () => {
  await Promise.all([connection.stop(), consuming.stop()]);
  await world.close();
});

function publish(text: string, bytes = 20): Promise<PublishResult> {
  return publisher.publish({
    exchange: workExchange,
    routingKey: queue,
    body: Buffer.from(text.padEnd(bytes)),
  });
}

function waitUntilUp(): Promise<unknown> {
  return waitFor('the connections', () => publisher.health.isUp && consumer.isConsuming);
}

/** Tries again, because an open circuit allows one trial at a time. */
function waitUntilConfirmed(text: string): Promise<unknown> {
  return waitFor('a publish to be confirmed', async () => (await publish(text)).kind === 'confirmed');
}

function waitUntilReceived(text: string): Promise<unknown> {
  return waitFor(`${text} to be received`, () => received.has(text));
}

const vhost = () => decodeURIComponent(new URL(world.rabbitmqUrl).pathname.slice(1)) || '/';

/** Runs the broker's command line tool with the environment of the running broker. */
async function rabbitmqctl(...args: string[]): Promise<void> {
  const environment = readFileSync(`/proc/${broker.pid()}/environ`, 'utf8').split('\0');
  await promisify(execFile)('/usr/lib/rabbitmq/bin/rabbitmqctl', args, {
    env: Object.fromEntries(environment.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string])),
  });
}

/** Stops the leader of a queue, so that the queue answers and confirms nothing. */
const suspend = (name: string) => rabbitmqctl('eval', `${leaderOf(name)}, sys:suspend(amqqueue:get_pid(Q)).`);
const resume = (name: string) => rabbitmqctl('eval', `${leaderOf(name)}, sys:resume(amqqueue:get_pid(Q)).`);

function leaderOf(name: string): string {
  const resource = `rabbit_misc:r(<<"${vhost()}">>, queue, <<"${name}">>)`;
  return `{ok, Q} = rabbit_amqqueue:lookup(${resource})`;
}

const stuck = { exchange: delayName('1h'), routingKey: 'hqrelay.retries', body: Buffer.from('stuck') };

describe('while the broker does not answer', () => {
  it('publishes to a frozen broker fail within their timeout, later ones at once, and resume afterwards', async () => {
    broker.freeze();
    try {
      const startedAt = performance.now();
      const { value: results, undisturbedMs } = await measureUndisturbed(() =>
        Promise.all(Array.from({ length: 20 }, (_, index) => publish(`frozen ${index}`))),
      );
      const tookMs = performance.now() - startedAt;
      for (const result of results) {
        expect(result).toEqual({ kind: 'failed', reason: 'timed_out', maybeStored: true });
      }
      expect(tookMs).toBeGreaterThanOrEqual(confirmTimeoutMs - 5);
      expect(undisturbedMs).toBeLessThan(confirmTimeoutMs + 500);

      expect(publisher.mayPublishTo(queue)).toBe(false);
      const refused = { kind: 'failed', reason: 'circuit_open', maybeStored: false };
      const atOnce = await measureUndisturbed(() =>
        Promise.all([publish('refused'), publisher.publish(stuck)]),
      );
      expect(atOnce.value).toEqual([refused, refused]);
      expect(atOnce.undisturbedMs).toBeLessThan(confirmTimeoutMs / 2);
    } finally {
      broker.thaw();
    }
    await waitUntilConfirmed('thawed');
    // A queue whose publishes were only refused meanwhile needs no trial.
    const spilled = { exchange: '', routingKey: auditQueue, body: Buffer.from('{}') };
    const results = await Promise.all([publisher.publish(spilled), publisher.publish(spilled)]);
    expect(results).toEqual([{ kind: 'confirmed' }, { kind: 'confirmed' }]);
    await waitUntilReceived('thawed');
    expect(publisher.mayPublishTo(queue)).toBe(true);
  });
});

describe('while one queue does not answer', () => {
  it('publishes to a silent queue fail, at once after the first, while other queues confirm', async () => {
    await suspend(delayName('1h'));
    try {
      expect(await publisher.publish(stuck)).toEqual({
        kind: 'failed',
        reason: 'timed_out',
        maybeStored: true,
      });
      expect(await publisher.publish(stuck)).toMatchObject({ reason: 'circuit_open' });
      await waitUntilConfirmed('beside 1');
      // The broker confirms on another queue, so the timeout opens the circuit of the stuck queue alone.
      const again = waitFor('the trial of the stuck queue', async () => {
        const result = await publisher.publish(stuck);
        return result.kind === 'failed' && result.reason === 'timed_out';
      });
      let tried = false;
      void again.then(() => (tried = true));
      while (!tried) expect(await publish('beside 2')).toEqual({ kind: 'confirmed' });
      await again;
      expect(await publish('beside 3')).toEqual({ kind: 'confirmed' });
      expect(publisher.mayPublishTo(delayName('1h'))).toBe(false);
      expect(publisher.mayPublishTo(queue)).toBe(true);
    } finally {
      await resume(delayName('1h'));
    }
    await waitFor(
      'the queue to confirm again',
      async () => (await publisher.publish(stuck)).kind === 'confirmed',
    );
  });
});

describe('while an alarm of the broker blocks publishing', () => {
  it('publishes fail at once during an alarm of the broker while consuming continues, and resume later', async () => {
    await rabbitmqctl('set_vm_memory_high_watermark', 'absolute', '1MB');
    try {
      // The broker reports the alarm at the first publish after it.
      const failed = await waitFor('a publish to fail', async () => {
        const result = await publish('alarm');
        return result.kind === 'failed' && result;
      });
      expect(failed).toMatchObject({ maybeStored: true });
      await waitFor('the connection to be blocked', () => connection.health.state === 'blocked');
      const refused = await measureUndisturbed(() => publish('refused'));
      expect(refused.value).toEqual({ kind: 'failed', reason: 'blocked', maybeStored: false });
      expect(refused.undisturbedMs).toBeLessThan(confirmTimeoutMs / 2);
      expect(publisher.mayPublishTo(queue)).toBe(false);
      expect(consumer.isConsuming).toBe(true);
    } finally {
      await rabbitmqctl('set_vm_memory_high_watermark', '0.4');
    }
    await waitFor('the connection to be unblocked', () => connection.health.isUp);
    await waitUntilConfirmed('unblocked');
    await waitUntilReceived('unblocked');
  });
});

describe('when the broker is killed', () => {
  it('publishes in flight to a killed broker fail as possibly stored, and others succeed after a restart', async () => {
    const publishing = Array.from({ length: 400 }, (_, index) => publish(`killed ${index}`, 20_000));
    await broker.kill();
    const results = await Promise.all(publishing);
    expect(results.some((result) => result.kind === 'failed')).toBe(true);
    for (const result of results) {
      if (result.kind === 'failed') expect(['channel_closed', 'timed_out']).toContain(result.reason);
      if (result.kind === 'failed') expect(result.maybeStored).toBe(true);
    }
    await waitFor(
      'the connection to be down',
      () => connection.health.state === 'down' && !consumer.isConsuming,
    );
    expect(await publish('down')).toMatchObject({ kind: 'failed', reason: 'disconnected' });

    await broker.start();
    await waitUntilUp();
    await waitUntilConfirmed('restarted');
    await waitUntilReceived('restarted');
    // No confirmed message is lost.
    for (const [index, result] of results.entries()) {
      if (result.kind === 'confirmed') await waitUntilReceived(`killed ${index}`);
    }
  });
});
