import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import type { TraceContext } from '@hqrelay/domain/delivery/trace-context';
import type { Logger } from '../logger.ts';
import type { Spans } from './spans.ts';

const kinds = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

const flushTimeoutMs = 2_000;
const warnEveryMs = 60_000;

/** Spans for a collector. The exporter itself reads its address, headers and timeout from the variables of OpenTelemetry. */
export async function createOtlpSpans({
  protocol,
  service,
  logger,
}: {
  protocol: 'http/protobuf' | 'http/json';
  service: string;
  logger: Logger;
}): Promise<Spans> {
  warnOfFailures(logger);
  const ids = new GivenIds();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `hqrelay-${service}` }),
    spanProcessors: [new BatchSpanProcessor({ exporter: await createExporter(protocol) })],
    idGenerator: ids,
  });
  const tracer = provider.getTracer('hqrelay');
  return {
    record({ name, kind, context, parentSpanId, links = [], startedAt, endedAt, attributes, error }) {
      ids.next = context;
      const parent =
        parentSpanId === undefined ? ROOT_CONTEXT : withParent({ ...context, spanId: parentSpanId });
      const span = tracer.startSpan(
        name,
        {
          kind: kinds[kind],
          startTime: startedAt,
          attributes,
          links: links.map((link) => ({ context: spanContextOf(link) })),
        },
        parent,
      );
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      span.end(endedAt);
    },
    close: () =>
      withTimeout(provider.shutdown(), flushTimeoutMs, 'the last spans were not sent in time').catch(
        (error: unknown) => logger.warn({ err: error }, 'traces.not_exported'),
      ),
  };
}

async function createExporter(protocol: 'http/protobuf' | 'http/json'): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** The SDK makes ids of its own; spans of HQRelay have those of their rows. */
class GivenIds {
  next: TraceContext = { traceId: '', spanId: '', isSampled: true };
  generateTraceId = () => this.next.traceId;
  generateSpanId = () => this.next.spanId;
}

/** The parent decides whether the span is sampled. */
function withParent(parent: TraceContext) {
  return trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));
}

function spanContextOf({ traceId, spanId, isSampled }: TraceContext) {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

/** A collector that is down concerns no webhook: one warning a minute. */
function warnOfFailures(logger: Logger): void {
  let quietUntil = 0;
  const warn = (message: string) => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + warnEveryMs;
    logger.warn({ reason: message.slice(0, 500) }, 'traces.not_exported');
  };
  const quiet = () => {};
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN);
}
