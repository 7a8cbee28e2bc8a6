import { redactPaths } from '@hqrelay/domain/secrets/redaction';
import { type DestinationStream, type Logger, pino } from 'pino';
import { terminalLine } from './terminal-line.ts';

export type { Logger };

/** Fields of an error that never quote data: no SQL parameters, no command arguments. */
const errorFields = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'severity',
  'constraint',
  'table',
  'column',
];

/** Bytes of lines that wait for a slow reader of stdout. Later lines are dropped, so that no reader stops the relay. */
const waitingBytesMax = 16 << 20;

/**
 * JSON lines on stdout, or on `destination`; lines for people where stdout is a terminal. Secrets and credentials are redacted by the name of their
 * field, and connection URLs inside error messages lose their user and password. Lines are written in the background,
 * and flushed when the process exits.
 */
export function createLogger(
  { name, level }: { name: string; level: string },
  destination: DestinationStream = stdout(),
): Logger {
  return pino(
    {
      name,
      level,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...redactPaths], censor: '[redacted]' },
      serializers: { err: describeError, error: describeError },
    },
    destination,
  );
}

function stdout(): DestinationStream {
  return process.stdout.isTTY
    ? { write: (line) => void process.stdout.write(terminalLine(line)) }
    : pino.destination({ fd: 1, sync: false, maxLength: waitingBytesMax });
}

/** The fields of an error that may be logged, with its causes. A value that is not an error is logged as it is, without credentials. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? withoutCredentials(error) : error;
  const described: Record<string, unknown> = {
    type: error.name,
    message: withoutCredentials(error.message),
    stack: framesOf(error),
  };
  for (const field of errorFields) {
    const value: unknown = (error as unknown as Record<string, unknown>)[field];
    if (typeof value === 'string' || typeof value === 'number') described[field] = value;
  }
  if (depth < 3) {
    if (error.cause !== undefined) described['cause'] = describeError(error.cause, depth + 1);
    if (error instanceof AggregateError) {
      described['errors'] = error.errors.slice(0, 5).map((each) => describeError(each, depth + 1));
    }
  }
  return described;
}

/** Removes `user:password@` from every URL, and the parameters that drizzle quotes after a failed query. */
function withoutCredentials(text: string): string {
  return text
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>]*@/gi, '$1***@')
    .replace(/\nparams: [\s\S]*$/, '\nparams: [redacted]');
}

/** A stack begins with the message again, so only its frames are kept. */
function framesOf(error: Error): string | undefined {
  return error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}
