import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { createLogger } from '../logger.ts';
import { openSpans } from './open-spans.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('@opentelemetry'));

it('without an OTLP endpoint nothing of OpenTelemetry is loaded, and with one it is', async () => {
  const unset = {
    otlpEndpoint: undefined,
    otlpTracesEndpoint: undefined,
    otlpProtocol: 'http/json',
  } as const;
  expect(await openSpans(unset, { service: 'test', logger })).toBeUndefined();
  expect(loaded()).toEqual([]);
  const otlpTracesEndpoint = 'http://127.0.0.1:1/v1/traces';
  const spans = await openSpans({ ...unset, otlpTracesEndpoint }, { service: 'test', logger });
  expect(loaded().length).toBeGreaterThan(0);
  await spans?.close();
});
