import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, inject } from 'vitest';

/** A world until the file's tests are over. */
export async function openWorld(options?: Parameters<typeof createWorld>[1]): Promise<World> {
  const world = await createWorld(inject('run'), options);
  afterAll(() => world.close());
  return world;
}

/** An app that runs until the file's tests are over, unless a test ends it. It may not be ready yet. */
export async function openApp(app: 'receiver' | 'worker', env: Record<string, string>): Promise<AppProcess> {
  const started = await startApp(app, { env });
  afterAll(async () => void (await started.end()));
  return started;
}

/** A recording endpoint until the file's tests are over. */
export async function openEndpoint(): Promise<RecordingEndpoint> {
  const endpoint = await startRecordingEndpoint();
  afterAll(() => endpoint.close());
  return endpoint;
}
