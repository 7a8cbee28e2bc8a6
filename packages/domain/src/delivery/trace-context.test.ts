import { describe, expect, it } from 'vitest';
import {
  contextOfWebhook,
  formatTraceparent,
  parseTraceparent,
  providerContext,
  spanIdOf,
} from './trace-context.ts';

const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const id = '0199f1b2-5a00-7abc-8def-0123456789ab';

describe('the trace context', () => {
  it('the example of the W3C specification is parsed, and formatted as it was', () => {
    const context = parseTraceparent(valid);
    expect(context).toEqual({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      isSampled: true,
    });
    expect(formatTraceparent(context!)).toBe(valid);
  });

  it('a later version with more fields is parsed as version 00', () => {
    expect(parseTraceparent(`cc${valid.slice(2)}-what-comes`)?.traceId).toBe(
      '4bf92f3577b34da6a3ce929d0e0e4736',
    );
  });

  it.each([
    undefined,
    '',
    `ff${valid.slice(2)}`,
    `${valid}-more`,
    valid.toUpperCase(),
    valid.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    valid.replace('00f067aa0ba902b7', '0'.repeat(16)),
    valid.slice(0, -1),
    `${valid}, ${valid}`,
  ])('the traceparent %j is invalid', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it('a provider that sends two traceparent headers has no context', () => {
    expect(providerContext([['TraceParent', valid]])).toEqual(parseTraceparent(valid));
    expect(
      providerContext([
        ['traceparent', valid],
        ['traceparent', valid],
      ]),
    ).toBeUndefined();
  });

  it("a webhook without the provider's context has its id as the trace id, and a span id from its last bytes", () => {
    expect(contextOfWebhook(id, undefined)).toEqual({
      traceId: '0199f1b25a007abc8def0123456789ab',
      spanId: '8def0123456789ab',
      isSampled: true,
    });
    const unsampled = parseTraceparent(valid.replace(/01$/, '00'));
    expect(contextOfWebhook(id, unsampled)).toEqual({ ...unsampled, spanId: spanIdOf(id) });
  });
});
