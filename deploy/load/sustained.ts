// A steady rate for five minutes, for k6 2 or later: k6 run -e URL=… -e SECRET=… deploy/load/sustained.ts
// URL is a generic project's webhook URL, SECRET its secret; RATE is 1,000 a second when absent. Use a project without a rate
// limit (`--rate-limit unlimited`), whose endpoint is yours.
import { check } from 'k6';
import { hmac } from 'k6/crypto';
import http from 'k6/http';
import type { Options } from 'k6/options';

const { URL: url, SECRET: secret, RATE: rate = '1000' } = __ENV;
if (!url || !secret) throw new Error('Set URL and SECRET with -e');

export const options: Options = {
  scenarios: {
    sustained: {
      exec: 'sendWebhook',
      executor: 'constant-arrival-rate',
      rate: Number(rate),
      timeUnit: '1s',
      duration: '5m',
      preAllocatedVUs: 200,
      maxVUs: 2000,
    },
  },
  thresholds: {
    checks: ['rate==1'],
    dropped_iterations: ['count==0'],
    http_req_duration: ['p(99)<100'],
  },
};

export function sendWebhook(): void {
  const id = `k6_${__VU}_${__ITER}_${Date.now()}`;
  const body = JSON.stringify({ event: 'payment.captured', id, padding: 'x'.repeat(925) });
  const response = http.post(String(url), body, {
    headers: {
      'Content-Type': 'application/json',
      'X-Webhook-Id': id,
      'X-Hub-Signature-256': `sha256=${hmac('sha256', String(secret), body, 'hex')}`,
    },
  });
  check(response, { 'answered 202': ({ status }) => status === 202 });
}
