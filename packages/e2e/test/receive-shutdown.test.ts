import { Agent, request } from 'node:http';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { signAsProvider } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { drainedMessages } from './drained-messages.ts';
import { openEndpoint, openWorld } from './open-world.ts';

const world = await openWorld();
const endpoint = await openEndpoint();
const project = await seedProject(world);
await seedEndpoint(world, project.id, { url: endpoint.url, retry: '1s,1s,1s,1s,1s' });

describe('SIGTERM under load', () => {
  it('SIGTERM under load resets no connection, exits 0, and every webhook answered 202 is delivered', async () => {
    const start = async (app: 'receiver' | 'worker') => {
      const started = await startApp(app, { env: world.env });
      await started.waitUntilReady();
      return started;
    };
    const [receiver, worker] = await Promise.all([start('receiver'), start('worker')]);
    const load = startLoad(receiver, project);
    await waitFor('some webhooks to be delivered', () => endpoint.requests.length > 100);

    const codes = await Promise.all([worker.end('SIGTERM'), receiver.end('SIGTERM')]);
    const { accepted, answers, failures } = await load.ended;
    expect(codes).toEqual([0, 0]);
    expect(failures).toEqual([]);
    expect([...answers.keys()]).toEqual([202]);
    expect(accepted.length).toBeGreaterThan(100);

    const second = await start('worker');
    await waitFor('every webhook to be delivered', () => {
      const delivered = new Set(endpoint.requests.map((each) => each.headers['webhook-id']));
      return accepted.every((id) => delivered.has(id));
    });
    const { rows } = await waitFor('the books to balance', async () => {
      const books = await world.sql.query<{ state: string; count: number }>(
        'select state, count(*)::int as count from delivery_status group by state',
      );
      return books.rows.length === 1 && books;
    });
    expect(rows).toEqual([{ state: 'delivered', count: accepted.length }]);
    // A drained worker has recorded its attempts and requeued the messages of the others, so none is posted twice.
    expect(await second.end('SIGTERM')).toBe(0);
    const postedAgain = endpoint.requests.length - accepted.length;
    expect(postedAgain).toBeLessThanOrEqual(drainedMessages(worker, second));
  });
});

/** Posts over keep-alive connections until the receiver stops listening. */
function startLoad(receiver: AppProcess, project: SeededProject) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const accepted: string[] = [];
  const answers = new Map<number, number>();
  const failures: string[] = [];
  let count = 0;
  const sender = async () => {
    for (;;) {
      try {
        const { statusCode, text } = await post(receiver.url, agent, project, `evt_${(count += 1)}`);
        answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
        if (statusCode === 202) accepted.push((JSON.parse(text) as { id: string }).id);
      } catch (error) {
        const { code = String(error) } = error as NodeJS.ErrnoException;
        if (code === 'ECONNREFUSED') return;
        failures.push(code);
      }
    }
  };
  const ended = Promise.all(Array.from({ length: 20 }, sender)).then(() => {
    agent.destroy();
    return { accepted, answers, failures };
  });
  return { ended };
}

function post(url: string, agent: Agent, project: SeededProject, webhookId: string) {
  const body = Buffer.from(JSON.stringify({ event: 'payment.captured', webhookId }));
  const headers = { ...signAsProvider(project, body), 'x-webhook-id': webhookId };
  return new Promise<{ statusCode: number; text: string }>((resolve, reject) => {
    request(`${url}/v1/webhooks/${project.id}`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ statusCode: response.statusCode ?? 0, text }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end(body);
  });
}
