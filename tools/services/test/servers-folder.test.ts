import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { discardServers, startPrivateServers } from '../src/private-services.ts';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '../src/throw-away-folder.ts';

describe('with HQRELAY_SERVERS_DIR', () => {
  const before = process.env['HQRELAY_SERVERS_DIR'];
  let folder: string;
  const startRedis = () =>
    startPrivateServers(['redis'], { dir: join(folder, 'data'), durable: false, say: () => {} });

  beforeEach(() => {
    folder = makeThrowAwayFolder('hqrelay-programs-');
    process.env['HQRELAY_SERVERS_DIR'] = folder;
  });

  afterEach(() => {
    delete process.env['HQRELAY_SERVERS_DIR'];
    if (before !== undefined) process.env['HQRELAY_SERVERS_DIR'] = before;
    removeThrowAwayFolder(folder);
  });

  test('private servers run the programs of HQRELAY_SERVERS_DIR', async () => {
    const log = join(folder, 'calls');
    const program = join(folder, 'redis-server');
    writeFileSync(program, `#!/bin/sh\necho called >> ${log}\nexec /usr/bin/redis-server "$@"\n`);
    chmodSync(program, 0o755);

    await discardServers(await startRedis());

    expect(readFileSync(log, 'utf8')).toBe('called\n');
  });

  test('a program that HQRELAY_SERVERS_DIR lacks is an error that names both, and the system’s own is not used', async () => {
    await expect(startRedis()).rejects.toThrow(`HQRELAY_SERVERS_DIR is ${folder}, which has no redis-server`);
  });

  test.each(['', '/no/such/folder'])(
    'HQRELAY_SERVERS_DIR="%s" is an error that names the variable',
    async (value) => {
      process.env['HQRELAY_SERVERS_DIR'] = value;
      await expect(startRedis()).rejects.toThrow(`HQRELAY_SERVERS_DIR is "${value}", which is not a folder`);
    },
  );
});
