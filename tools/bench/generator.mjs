// The load: autocannon with unique ids and signed bodies of 1 KiB. A process of its own that takes its orders as messages.
import { createHmac } from 'node:crypto';
import autocannon from 'autocannon';

const run = process.pid.toString(36) + Date.now().toString(36);
/** What a body has beside its padding. */
const fieldBytes = 99;
let number = 0;

/**
 * @typedef {{ paths: readonly string[]; eventTypes: readonly string[] }} Traffic
 * @typedef {{ url: string; secret: string; seconds: number; connections: number; perSecond?: number; bodyBytes?: number; traffic?: Traffic; listIds?: boolean }} Order
 */

/** @param {Order} order @param {string} padding */
function nextRequest({ secret, traffic }, padding) {
  number += 1;
  const id = `evt_${run}_${String(number).padStart(9, '0')}`;
  const body = `{"event":"payment.captured","id":"${id}","padding":"${padding}"}`;
  const headers = {
    'content-type': 'application/json',
    'x-webhook-id': id,
    'x-bench-key': String(number % 10_000),
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
  if (!traffic) return { body, headers };
  const { paths, eventTypes } = traffic;
  const eventType = eventTypes[Math.floor(number / paths.length) % eventTypes.length];
  return { body, headers: { ...headers, 'x-event-type': eventType }, path: paths[number % paths.length] };
}

process.on('message', (/** @type {Order} */ order) => {
  const { url, seconds, connections, perSecond, bodyBytes = 1_024 } = order;
  const padding = 'x'.repeat(bodyBytes - fieldBytes);
  /** @type {string[]} */
  const ids = [];
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
          setupRequest: (request) => ({ ...request, ...nextRequest(order, padding) }),
          ...(order.listIds && {
            onResponse: (status, body) => {
              if (status === 202) ids.push(/** @type {{ id: string }} */ (JSON.parse(body)).id);
            },
          }),
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
        ids,
      });
    },
  );
});
process.once('disconnect', () => process.exit());
