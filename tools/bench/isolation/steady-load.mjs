// Providers that send at a steady rate, independent of the answers, to several projects in turn. A process of its own that
// takes its orders as messages.
import { createHmac } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';

const run = process.pid.toString(36) + Date.now().toString(36);
const padding = 'x'.repeat(925);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
let number = 0;

/**
 * @typedef {{ url: string; secret: string }} Target
 * @typedef {{ targets: Target[]; perSecond: number; count: number; inFlightMax: number }} Order
 */

/** @param {Target} target */
function send({ url, secret }) {
  const id = `evt_${run}_${(number += 1)}`;
  const body = JSON.stringify({ event: 'payment.captured', id, padding });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-webhook-id': id,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
  return new Promise((resolve) => {
    const request = httpRequest(url, { method: 'POST', headers, agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 202));
      response.once('error', () => resolve(false));
    });
    request.once('error', () => resolve(false));
    request.end(body);
  });
}

process.on('message', (/** @type {Order} */ { targets, perSecond, count, inFlightMax }) => {
  const startedAt = performance.now();
  let sent = 0;
  let accepted = 0;
  let inFlight = 0;
  const timer = setInterval(() => {
    const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; sent < due && inFlight < inFlightMax; sent += 1) {
      inFlight += 1;
      void send(/** @type {Target} */ (targets[sent % targets.length])).then((isAccepted) => {
        accepted += Number(isAccepted);
        inFlight -= 1;
        if (sent < count || inFlight > 0) return;
        clearInterval(timer);
        process.send?.({ accepted, refused: sent - accepted });
      });
    }
  }, 4);
});
process.once('disconnect', () => process.exit());
