import { METHODS } from 'node:http';
import { latin1, requestText, type CaseMaker } from '../fuzz-case.ts';
import { headerValue } from '../signed-request.ts';

const paths = [
  '/',
  '*',
  '/health',
  '/health/',
  '/HEALTH',
  '/health?a=b',
  '/health/ready',
  '/metrics',
  '/v1',
  '/v1/webhooks',
  '/v1/webhooks/',
  '/v1/webhooks//',
  '/v1/webhooks/%',
  '/v1/webhooks/%ff',
  '/v1/webhooks/%00',
  '/v1/webhooks/%2e%2e%2fmetrics',
  '/v1/webhooks/../../health',
  '/v1/webhooks/1 or 1=1',
  '/v1/webhooks/00000000-0000-0000-0000-000000000000',
  '/v1/webhooks/ffffffff-ffff-ffff-ffff-ffffffffffff/extra',
  'http://elsewhere/v1/webhooks/x',
  '//elsewhere/v1/webhooks',
  '/\\\\elsewhere',
  '/__proto__',
  '/v1/webhooks/__proto__',
  '/v1/webhooks/\xff\xfe',
  '/v1/webhooks/;a=b',
  '/v1/webhooks/#fragment',
];

/** Every method with paths that exist, nearly exist and do not exist, without a signature. */
export const routes: CaseMaker = {
  name: 'routes',
  make(random, { project }) {
    const method = random.once(3) ? 'POST' : random.pick(METHODS);
    const known = [...paths, `/v1/webhooks/${project.id}`, `/v1/webhooks/${project.id}/`];
    const path = random.once(4) ? `/${random.text(random.int(9_000), 'ab/%.?=&;:@é')}` : random.pick(known);
    const body = random.once(2) ? random.text(random.int(2_000)) : '';
    const signature = random.pick(['', 'sha256=', `sha256=${'0'.repeat(64)}`, headerValue(random)]);
    const text = requestText(
      `${method} ${path} HTTP/1.${random.once(5) ? 0 : 1}`,
      [
        ...(random.once(10)
          ? []
          : [['Host', random.pick(['relay', '', 'a:99999', '[::1', headerValue(random)])] as const]),
        ['Content-Length', String(body.length)],
        ['X-Hub-Signature-256', signature],
        ...(random.once(8) ? [['Upgrade', 'websocket'] as const, ['Connection', 'Upgrade'] as const] : []),
        ...(random.once(8) ? [['Expect', random.pick(['100-continue', 'a'])] as const] : []),
        ['X-Correlation-Id', headerValue(random)],
      ],
      body,
    );
    return { writes: [latin1(text)], end: 'wait', answers: [1, 1], isHead: method === 'HEAD' };
  },
};
