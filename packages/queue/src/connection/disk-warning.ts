import { z } from 'zod';

const nodes = z.array(
  z.object({
    name: z.string(),
    disk_free: z.number(),
    disk_free_limit: z.number(),
    disk_free_alarm: z.boolean(),
  }),
);

const timesTheLimit = 2;
const bytesMin = 1 << 30;

/**
 * A sentence for the operator when a node of the broker is short of disk: below its limit the broker blocks publishing. Asks the
 * management plugin on its default port with the login of the URL; undefined when it does not answer as the plugin does.
 */
export async function diskWarning(amqpUrl: string): Promise<string | undefined> {
  const { username, password } = new URL(amqpUrl);
  const login = `${decodeURIComponent(username) || 'guest'}:${decodeURIComponent(password) || 'guest'}`;
  // Without the management plugin nothing is known of the disk; that the broker itself is down is reported elsewhere.
  const answer = await fetch(`${managementOrigin(amqpUrl)}/api/nodes`, {
    headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
    redirect: 'error',
    signal: AbortSignal.timeout(2_000),
  }).catch(() => undefined);
  const parsed = answer?.ok ? nodes.safeParse(await answer.json().catch(() => undefined)) : undefined;
  const short = parsed?.data?.find(
    (node) =>
      node.disk_free_alarm || node.disk_free < Math.max(bytesMin, node.disk_free_limit * timesTheLimit),
  );
  if (!short) return undefined;
  const mebibytes = (bytes: number) => `${Math.round(bytes / (1 << 20))} MiB`;
  return `RabbitMQ node ${short.name} has ${mebibytes(short.disk_free)} of disk left and blocks publishing below ${mebibytes(short.disk_free_limit)}: webhooks would go to the outbox`;
}

/** With TLS where the URL has TLS, so that the login is never sent in clear. */
function managementOrigin(amqpUrl: string): string {
  const { protocol, hostname } = new URL(amqpUrl);
  return protocol === 'amqps:' ? `https://${hostname}:15671` : `http://${hostname}:15672`;
}
