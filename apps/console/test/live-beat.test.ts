import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createWorld } from '@hqrelay/testing/world';
import { freshId } from '@hqrelay/testing/fresh-id';
import express from 'express';
import { expect, inject, it } from 'vitest';
import { LiveFeed } from '../src/live/live-feed.ts';

it('a stream without events sends a comment again and again, so that proxies keep it open', async () => {
  const world = await createWorld(inject('run'));
  const feed = new LiveFeed({
    reads: world.sql,
    pool: world.sql,
    logger: { warn: () => {} },
    now: Date.now,
    beatEveryMs: 20,
  });
  const app = express();
  app.get('/', (_request, response) =>
    feed.open(response, { projectId: freshId(), callerId: 'c', seconds: 60 }),
  );
  const server = app.listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.split(': beat').length > 3) break;
    }
    expect(text).toMatch(/^retry: 1000\n\n(: beat\n\n){3}/);
  } finally {
    feed.close();
    server.close();
    await world.close();
  }
});
