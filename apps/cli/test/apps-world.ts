import { startApp } from '@hqrelay/testing/app-process';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { type CliOutcome, jsonOf } from './run-cli.ts';

/** The output of `webhook show --json`. */
export type ShownWebhook = {
  webhook: { endpointIds: string[] };
  deliveries: { state: string; heldReason: string | null }[];
};

/** A world with a worker and a recording endpoint, driven by the command line, until the file's tests are over. */
export async function openWorkerWorld() {
  const world = await openCliWorld();
  const endpoint = await startRecordingEndpoint();
  const worker = await startApp('worker', { env: world.env });
  afterAll(async () => {
    await worker.end();
    await endpoint.close();
  });
  await worker.waitUntilReady();
  return {
    ...world,
    endpoint,
    worker,
    runJson: async (...argv: string[]) => jsonOf(await world.run(...argv, '--json')) as never,
  };
}

/** The world of `openWorkerWorld` with a receiver. */
export async function openAppsWorld() {
  const world = await openWorkerWorld();
  const receiver = await startApp('receiver', { env: world.env });
  afterAll(() => receiver.end());
  await receiver.waitUntilReady();

  const trySend = (projectId: string): Promise<CliOutcome> =>
    world.runWith({ RECEIVER_PORT: new URL(receiver.url).port }, ['send', '--project', projectId, '--json']);
  return {
    ...world,
    receiver,
    trySend,
    /** Sends a webhook and returns its id. */
    send: async (projectId: string) => (jsonOf(await trySend(projectId)) as { id: string }).id,
    /** A project with an endpoint, which is the recording one. */
    async createProjectWithEndpoint() {
      const projectId = await world.createProject();
      return { projectId, ...(await world.addEndpoint(projectId, world.endpoint.url)) };
    },
    /** Waits until `webhook show` finds the webhook and `isIt` accepts it. */
    waitForWebhook: (
      id: string,
      isIt: (shown: ShownWebhook) => boolean = () => true,
    ): Promise<ShownWebhook> =>
      waitFor('webhook show to print the webhook', async () => {
        const outcome = await world.run('webhook', 'show', id, '--json');
        if (outcome.exitCode !== 0) return undefined;
        const shown = jsonOf(outcome) as ShownWebhook;
        return isIt(shown) && shown;
      }),
  };
}

export const isInState =
  (state: string) =>
  ({ deliveries }: ShownWebhook): boolean =>
    deliveries[0]?.state === state;
