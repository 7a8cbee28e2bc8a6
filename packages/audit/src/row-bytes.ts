import type { AuditRow } from '@hqrelay/db/queries/append-audit';

/** Approximate memory of a row in bytes; text counts one byte a character. */
export function bytesOf(row: AuditRow): number {
  if (row.kind === 'attempt') return 512 + (row.attempt.responseBody?.length ?? 0);
  const { payload, outbox } = row;
  const headersLength = payload?.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return 512 + (payload?.payload.length ?? 0) + (headersLength ?? 0) + (outbox?.message.length ?? 0);
}
