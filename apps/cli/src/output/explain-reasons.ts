import { explainReason } from '@hqrelay/domain/inbound/rejection-reason';

/** A line for each code among the reasons, with what it means; null when there is none. */
export function explanationsOf(reasons: readonly (string | null)[]): string | null {
  const lines = new Map<string, string>();
  for (const reason of reasons) {
    const explained = explainReason(reason ?? '');
    if (explained) lines.set(explained.code, `${explained.code}: ${explained.explanation}`);
  }
  return lines.size === 0 ? null : [...lines.values()].join('\n');
}
