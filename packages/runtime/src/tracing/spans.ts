import type { TraceContext } from '@hqrelay/domain/delivery/trace-context';

/** A span that has ended. Times are ms since epoch. */
export type EndedSpan = {
  name: string;
  kind: 'server' | 'producer' | 'client' | 'internal';
  context: TraceContext;
  parentSpanId?: string | undefined;
  links?: readonly TraceContext[];
  startedAt: number;
  endedAt: number;
  attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Why it failed. */
  error?: string | undefined;
};

/** Records the spans of a process. */
export type Spans = {
  /** Never throws and never waits: beyond its buffer, spans are dropped. */
  record: (span: EndedSpan) => void;
  /** Sends what is buffered, within 2 s. */
  close: () => Promise<void>;
};
