import type { ReplayJob } from '@hqrelay/db/queries/replay-jobs';

/** The job with the number of its dead letters instead of their ids, of which there may be thousands. */
export function withoutIds({ selection, ...job }: ReplayJob) {
  return {
    ...job,
    selection:
      selection.kind === 'dead_letter_ids' || selection.kind === 'webhook_ids'
        ? { ...selection, ids: selection.ids.length }
        : selection,
  };
}

export function countOf({ count, countCapped }: ReplayJob): string {
  return countCapped ? `${count} or more` : `${count}`;
}

export function describeSelection({ selection }: ReplayJob): string {
  const period = (since: number | undefined, until: number) =>
    `${since === undefined ? '' : `from ${new Date(since).toISOString()} `}to ${new Date(until).toISOString()}`;
  switch (selection.kind) {
    case 'webhook':
      return `webhook ${selection.webhookLogId}`;
    case 'dead_letter_ids':
      return `${selection.ids.length} dead letters`;
    case 'webhook_ids':
      return `${selection.ids.length} webhooks`;
    case 'filtered_webhooks':
      return `filtered webhooks ${period(selection.filter.since, selection.filter.until)}`;
    case 'dead_letters':
      return `dead letters ${period(selection.since, selection.until)}`;
    case 'webhooks':
      return `${selection.missing ? 'missing webhooks' : 'webhooks'} ${period(selection.since, selection.until)}`;
  }
}

export function formatCounts(counts: Readonly<Partial<Record<string, number>>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
