import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemNames, parseHosts, parseSearchDomains } from './system-names.ts';

describe('parseHosts', () => {
  it('every name of the hosts file is read in lower case, with every address of the name', () => {
    const hosts = parseHosts(
      '# a comment\n127.0.0.1\tlocalhost\n10.0.0.1 db.internal DB # main\n\n::1 localhost\n',
    );
    expect([...hosts]).toEqual([
      [
        'localhost',
        [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
      ],
      ['db.internal', [{ address: '10.0.0.1', family: 4 }]],
      ['db', [{ address: '10.0.0.1', family: 4 }]],
    ]);
  });

  it('lines of the hosts file without an address are skipped', () => {
    expect(parseHosts('localhost 127.0.0.1\n300.1.1.1 a\n').size).toBe(0);
  });
});

describe('parseSearchDomains', () => {
  it.each([
    [
      'nameserver 10.0.0.2\nsearch ns.svc.cluster.local svc.cluster.local\n',
      ['ns.svc.cluster.local', 'svc.cluster.local'],
    ],
    ['domain a.example\nsearch b.example.\n', ['b.example']],
    ['search\n', []],
    ['', []],
  ])('the resolver file %j has the search domains %j', (text, domains) => {
    expect(parseSearchDomains(text)).toEqual(domains);
  });
});

describe('the system names', () => {
  it('the hosts and resolver files are read again after 5 s, and a missing one counts as empty', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hqrelay-names-'));
    const hostsFile = join(folder, 'hosts');
    let clock = 0;
    const read = createSystemNames({ hostsFile, resolverFile: join(folder, 'resolv.conf') }, () => clock);
    expect(await read()).toEqual({ hosts: new Map(), searchDomains: [] });
    await writeFile(hostsFile, '10.0.0.1 new.internal\n');
    clock = 4_999;
    expect((await read()).hosts.has('new.internal')).toBe(false);
    clock = 5_000;
    expect((await read()).hosts.has('new.internal')).toBe(true);
    await rm(folder, { recursive: true });
  });
});
