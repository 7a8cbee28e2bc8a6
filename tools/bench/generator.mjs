// The load: autocannon with unique ids and signed bodies of 1 KiB. A process of its own that takes its orders as messages.
import { createHmac } from 'node:crypto';
import autocannon from 'autocannon';

const run = process.pid.toString(36) + Date.now().toString(36);
const padding = 'x'.repeat(925);
let number = 0;

/**
 * @typedef {{ url: string; secret: string; seconds: number; connections: number; perSecond?: number }} Order
 */

process.on('message', (/** @type {Order} */ { url, secret, seconds, connections, perSecond }) => {
  autocannon(
    {
      url,
      method: 'POST',
      connections,
      duration: seconds,
      // Times of answers, not of requests that the machine could not even send when they were due.
      ...(perSecond && { overallRate: perSecond, ignoreCoordinatedOmission: true }),
      requests: [
        {
          setupRequest: (request) => {
            const id = `evt_${run}_${String((number += 1)).padStart(9, '0')}`;
            const body = JSON.stringify({ event: 'payment.captured', id, padding });
            const signature = createHmac('sha256', secret).update(body).digest('hex');
            return {
              ...request,
              body,
              headers: {
                'content-type': 'application/json',
                'x-webhook-id': id,
                'x-bench-key': String(number % 10_000),
                'x-hub-signature-256': `sha256=${signature}`,
              },
            };
          },
        },
      ],
    },
    (error, result) => {
      if (error) throw error;
      process.send?.({
        accepted: result['2xx'],
        refused: result.non2xx,
        errors: result.errors,
        seconds: result.duration,
        p50Ms: result.latency.p50,
        p99Ms: result.latency.p99,
        maxMs: result.latency.max,
        serverErrors: result['5xx'],
      });
    },
  );
});
process.once('disconnect', () => process.exit());
