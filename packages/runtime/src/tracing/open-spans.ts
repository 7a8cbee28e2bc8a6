import type { Logger } from '../logger.ts';
import type { Spans } from './spans.ts';

export type SpansConfig = {
  otlpEndpoint: string | undefined;
  otlpTracesEndpoint: string | undefined;
  otlpProtocol: 'http/protobuf' | 'http/json';
};

/** Undefined, and nothing of OpenTelemetry is loaded, unless an OTLP endpoint is set. */
export async function openSpans(
  { otlpEndpoint, otlpTracesEndpoint, otlpProtocol }: SpansConfig,
  { service, logger }: { service: string; logger: Logger },
): Promise<Spans | undefined> {
  if (otlpEndpoint === undefined && otlpTracesEndpoint === undefined) return undefined;
  const { createOtlpSpans } = await import('./otlp-spans.ts');
  return createOtlpSpans({ protocol: otlpProtocol, service, logger });
}
