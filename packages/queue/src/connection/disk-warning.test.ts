import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { diskWarning } from './disk-warning.ts';

let server: Server | undefined;

afterEach(async () => {
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

const shortOfDisk = [
  { name: 'rabbit@one', disk_free: 1 << 20, disk_free_limit: 50 << 20, disk_free_alarm: true },
];

/** The management port without TLS, on a loopback address that nothing else uses. */
async function listen(host: string, body = JSON.stringify(shortOfDisk)): Promise<string[]> {
  const seen: string[] = [];
  server = createServer((request, response) => {
    seen.push(request.headers.authorization ?? '');
    response.setHeader('content-type', 'application/json').end(body);
  });
  await new Promise<void>((resolve) => server?.listen(15_672, host, resolve));
  return seen;
}

it('the management plugin is asked for the free disk of a broker without TLS', async () => {
  const seen = await listen('127.0.0.71');
  expect(await diskWarning('amqp://user:password@127.0.0.71')).toContain('rabbit@one has 1 MiB');
  expect(seen).toEqual([`Basic ${Buffer.from('user:password').toString('base64')}`]);
});

it('the login of an amqps URL is never sent without TLS', async () => {
  const seen = await listen('127.0.0.72');
  expect(await diskWarning('amqps://user:password@127.0.0.72')).toBeUndefined();
  expect(seen).toEqual([]);
});

it('there is no warning when another server answers on the management port', async () => {
  await listen('127.0.0.73', '<html>');
  expect(await diskWarning('amqp://user:password@127.0.0.73')).toBeUndefined();
});
