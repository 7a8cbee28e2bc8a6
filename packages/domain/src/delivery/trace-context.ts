/** A position in a distributed trace, as the W3C header `traceparent` carries it. */
export type TraceContext = {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  isSampled: boolean;
};

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The context of a `traceparent`; undefined for a text that W3C Trace Context calls invalid. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    traceparentPattern.exec(text?.trim() ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The span of the thing with this id: the last 8 bytes of the UUID. A span is found from its row, and a row from its span. */
export function spanIdOf(id: string): string {
  return id.slice(19).replace('-', '');
}

/** The provider's context; undefined when it sent no valid `traceparent`, or several. */
export function providerContext(headers: readonly (readonly [string, string])[]): TraceContext | undefined {
  const [only, ...others] = headers.filter(([name]) => name.toLowerCase() === 'traceparent');
  return others.length === 0 ? parseTraceparent(only?.[1]) : undefined;
}

/**
 * The context of the span of a webhook's receipt, in the provider's trace where it sent one. Otherwise the trace id is the
 * webhook's id. It is derived from what every message of the webhook carries, so a trace needs no field of its own and
 * continues through delay queues, Postgres and replays.
 */
export function contextOfWebhook(id: string, provider: TraceContext | undefined): TraceContext {
  return {
    traceId: provider?.traceId ?? id.replaceAll('-', ''),
    spanId: spanIdOf(id),
    isSampled: provider?.isSampled ?? true,
  };
}
