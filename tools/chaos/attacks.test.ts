import { createServer, type Socket } from 'node:net';
import { listenOnLoopback, type LoopbackServer } from '@hqrelay/testing/network/loopback-server';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { AttackSockets } from './attacks/attack-sockets.ts';
import { attacks } from './attacks/attacks.ts';
import { judgePhase } from './attacks/judge-phase.ts';

describe('the sockets of an attack', () => {
  let server: LoopbackServer;
  const sockets = new Set<Socket>();
  let received = '';

  beforeEach(async () => {
    received = '';
    const accept = (socket: Socket) => {
      sockets.add(socket);
      socket.on('data', (data) => (received += data.toString('latin1', 0, 200)));
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    };
    server = await listenOnLoopback(createServer(accept));
  });

  afterEach(() => server.shut());

  it.each(attacks)(
    '$name sends what it says from addresses of its own, and stop closes every socket',
    async (attack) => {
      const running = new AttackSockets(attack, [server.port]);
      const sends = attack.name !== 'connection-flood';
      await waitFor(
        'connections',
        () => sockets.size >= 10 && (!sends || received.includes('POST /v1/webhooks/')),
      );
      for (const { remoteAddress } of sockets) expect(remoteAddress).toMatch(/^127\.0\.1\.[1-8]$/);
      const { opened } = running.stop();
      expect(opened).toBeGreaterThanOrEqual(10);
      await waitFor('the sockets to close', () => sockets.size === 0);
    },
  );

  it('an attack opens a socket again when the receiver closes it, and counts the answers', async () => {
    const [attack] = attacks;
    if (!attack) throw new Error('there are no attacks');
    const running = new AttackSockets({ ...attack, sockets: 2 }, [server.port]);
    const seen = new Set<Socket>();
    await waitFor('four connections', () => {
      for (const socket of sockets) seen.add(socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n'));
      return seen.size >= 4;
    });
    const { answers, closedByReceiver } = running.stop();
    expect(answers['408']).toBeGreaterThanOrEqual(2);
    expect(closedByReceiver).toBeGreaterThanOrEqual(2);
  });
});

const calm = { sent: 1_000, p99Ms: 20, slowestMs: 30, refused: 0, lateMs: 12 };
const attacked = { seconds: 10, opened: 10, closedByReceiver: 0, units: 10, bytes: 10, cpu: 5, answers: {} };
const phase = { ...calm, healthMs: 10, unhealthy: 0, receiverMib: 100, receiverCpu: 10, attacked };

test.each([
  ['answers as fast as 250 ms', { p99Ms: 250 }, calm, []],
  ['answers slower than 250 ms', { p99Ms: 251 }, calm, ['p99 251 ms, more than 250 ms']],
  ['three times the p99 of a slow machine', { p99Ms: 300 }, { ...calm, p99Ms: 100 }, []],
  ['a refused webhook', { refused: 1 }, calm, ['1 of 1000 genuine webhooks were refused']],
  ['a health check without an answer', { unhealthy: 2 }, calm, ['2 health checks had no 200 within 2 s']],
  [
    'attackers that did nothing',
    { attacked: { ...attacked, units: 0 } },
    calm,
    ['the attackers did nothing'],
  ],
])('a phase with %s is judged by that', (_title, changes, calmPhase, problems) => {
  expect(judgePhase({ ...phase, ...changes }, calmPhase)).toEqual(problems);
});
