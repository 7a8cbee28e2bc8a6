import { startApp } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { afterAll } from 'vitest';
import { openBrowserWorld } from './browser-world.ts';

/** A browser, a console, a receiver, a worker, and an endpoint that a test can tell how to answer. */
export async function openRelayWorld() {
  const world = await openBrowserWorld();
  const endpoint = await startRecordingEndpoint();
  afterAll(() => endpoint.close());
  const [receiver] = await Promise.all(
    (['receiver', 'worker'] as const).map(async (name) => {
      const app = await startApp(name, { env: world.env });
      afterAll(() => app.end());
      await app.waitUntilReady();
      return app;
    }),
  );
  return {
    ...world,
    endpoint,
    /** A project with one endpoint, and what posts signed webhooks to it; each resolves with the id of the webhook. */
    async makeShop(settings: { url?: string; retrySchedule?: string[] } = {}) {
      const { body } = await world.post('/api/v1/projects', { name: 'Shop' });
      const projectId = body.project.id as string;
      const added = await world.post(`/api/v1/projects/${projectId}/endpoints`, {
        url: endpoint.url,
        ...settings,
      });
      const sender = { id: projectId, secret: body.secret as string, requireTimestamp: false };
      return {
        projectId,
        endpointId: added.body.endpoint.id as string,
        async receive(order: string): Promise<string> {
          const answer = await postWebhook(receiver!.url, sender, {
            body: JSON.stringify({ event: 'payment.paid', order }),
          });
          if (answer.statusCode !== 202) throw new Error(`the webhook was answered ${answer.statusCode}`);
          return answer.body.id as string;
        },
      };
    },
  };
}
