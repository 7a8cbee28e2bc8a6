import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NameAnswer, startNameServer } from '@hqrelay/testing/network/name-server';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createResolveHost } from './resolve-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'hqrelay-resolve-'));
const hostsFile = join(folder, 'hosts');
const resolverFile = join(folder, 'resolv.conf');
writeFileSync(hostsFile, '10.9.8.7 known.example\n');
writeFileSync(resolverFile, 'search ns.cluster.local cluster.local\n');
const cleanups: (() => unknown)[] = [];
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function resolverOf(answers: Record<string, NameAnswer | Partial<Record<'A' | 'AAAA', NameAnswer>>>) {
  const server = await startNameServer((name, type) => {
    const answer = answers[name] ?? 'does not exist';
    return typeof answer === 'string' || Array.isArray(answer)
      ? answer
      : ((answer as Partial<Record<'A' | 'AAAA', NameAnswer>>)[type] ?? []);
  });
  cleanups.push(server.close);
  const resolve = createResolveHost({ nameServers: [server.address], hostsFile, resolverFile });
  return {
    asked: server.asked,
    resolve: (name: string, signal = new AbortController().signal) => resolve(name, signal),
  };
}

const v4 = (address: string) => ({ address, family: 4 });
const v6 = (address: string) => ({ address, family: 6 });

describe('a host name', () => {
  it('a host name resolves to all its addresses, IPv4 first', async () => {
    const { resolve } = await resolverOf({ 'hook.example': ['2001:db8::1', '192.0.2.1', '192.0.2.2'] });
    expect(await resolve('hook.example')).toEqual([v4('192.0.2.1'), v4('192.0.2.2'), v6('2001:db8::1')]);
  });

  it('no name server is asked for a name of the hosts file', async () => {
    const { resolve, asked } = await resolverOf({ 'known.example': ['192.0.2.1'] });
    expect(await resolve('Known.Example')).toEqual([v4('10.9.8.7')]);
    expect(asked).toEqual([]);
  });

  it.each(['localhost', 'api.localhost', 'localhost.'])(
    'the name %s resolves to this machine (RFC 6761)',
    async (name) => {
      const { resolve, asked } = await resolverOf({});
      expect(await resolve(name)).toEqual([v4('127.0.0.1'), v6('::1')]);
      expect(asked).toEqual([]);
    },
  );

  it('a name without a dot is completed by the search list first', async () => {
    const { resolve, asked } = await resolverOf({ 'hook.cluster.local': ['192.0.2.1'] });
    expect(await resolve('hook')).toEqual([v4('192.0.2.1')]);
    expect(asked.filter((question) => question.startsWith('A '))).toEqual([
      'A hook.ns.cluster.local',
      'A hook.cluster.local',
    ]);
  });

  it('a name with a dot is completed by the search list only if it does not exist', async () => {
    const { resolve, asked } = await resolverOf({
      'hook.example': ['192.0.2.1'],
      'hook.other.cluster.local': ['192.0.2.2'],
    });
    expect(await resolve('hook.example')).toEqual([v4('192.0.2.1')]);
    expect(asked).toHaveLength(2);
    expect(await resolve('hook.other')).toEqual([v4('192.0.2.2')]);
  });

  it('a name with a dot at its end is never completed', async () => {
    const { resolve, asked } = await resolverOf({ 'hook.cluster.local': ['192.0.2.1'] });
    await expect(resolve('hook.')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(asked.toSorted()).toEqual(['A hook', 'AAAA hook']);
  });

  it.each<[NameAnswer, string]>([
    ['does not exist', 'ENOTFOUND'],
    [[], 'ENODATA'],
    ['server failure', 'ESERVFAIL'],
  ])('a name for which the name server answers %j fails with %s', async (answer, code) => {
    const { resolve } = await resolverOf({ 'hook.example': answer });
    await expect(resolve('hook.example')).rejects.toMatchObject({ code });
  });

  it('a name whose AAAA query is never answered resolves to its IPv4 addresses', async () => {
    const { resolve } = await resolverOf({ 'hook.example': { A: ['192.0.2.1'], AAAA: 'silence' } });
    expect(await resolve('hook.example')).toEqual([v4('192.0.2.1')]);
  });

  it('a query is sent again when a packet was lost', async () => {
    const server = await startNameServer((_name, _type, askedBefore) =>
      askedBefore === 0 ? 'silence' : ['192.0.2.1'],
    );
    cleanups.push(server.close);
    const resolve = createResolveHost({ nameServers: [server.address], hostsFile, resolverFile });
    expect(await resolve('hook.example', new AbortController().signal)).toEqual([v4('192.0.2.1')]);
  });

  it('a query that is never answered fails when the look-up is cancelled', async () => {
    const { resolve, asked } = await resolverOf({ 'hook.example': 'silence' });
    const controller = new AbortController();
    const resolving = resolve('hook.example', controller.signal);
    resolving.catch(() => {});
    await expect.poll(() => asked.length).toBeGreaterThanOrEqual(2);
    controller.abort();
    const askedBefore = asked.length;
    await expect(resolving).rejects.toMatchObject({
      code: 'ETIMEOUT',
      message: 'no name server answered for hook.example',
    });
    await expect(resolve('hook.example', controller.signal)).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(asked).toHaveLength(askedBefore);
  });

  it('a look-up whose name server does not listen fails with ETIMEOUT, not as a refused connection', async () => {
    const server = await startNameServer(() => []);
    await server.close();
    const resolve = createResolveHost({ nameServers: [server.address], hostsFile, resolverFile });
    await expect(resolve('hook.example', new AbortController().signal)).rejects.toMatchObject({
      code: 'ETIMEOUT',
    });
  });
});
