/** The position of a row in the order in which a job reads them. `at` in ms since the epoch. */
export type ReplayCursor = { at: number; id: string };

export type WhyNotReplayed =
  /** Its payload was dropped: it is older than `PAYLOAD_RETENTION_DAYS`. */
  | 'payload_dropped'
  /** Its row is not in Postgres yet. */
  | 'not_recorded'
  | 'no_endpoint'
  | 'endpoint_archived';

/** One webhook to be sent to one endpoint. */
export type ReplayCandidate = { webhookLogId: string; endpointId: string };

/** The candidates between two cursors. */
export type ReplayPage = {
  candidates: ReplayCandidate[];
  notReplayed: Partial<Record<WhyNotReplayed, number>>;
  /** Where the next page begins; null when there is none. */
  next: ReplayCursor | null;
};

/** How much a page may hold: candidates, and bytes of their payloads (one may be larger). */
export type PageLimit = { candidatesMax: number; bytesMax: number };

type Row = ReplayCandidate & { bytes: number; whyNot: WhyNotReplayed | null; cursor: ReplayCursor };

/** The page of these rows, as far as its bytes allow; `next` follows the last row. One webhook and endpoint come once. */
export function collectPage(
  rows: readonly Row[],
  { bytesMax }: PageLimit,
  next: ReplayCursor | null,
): ReplayPage {
  const page: ReplayPage = { candidates: [], notReplayed: {}, next };
  const seen = new Set<string>();
  let bytes = 0;
  let previous: ReplayCursor | null = null;
  for (const { webhookLogId, endpointId, whyNot, cursor, ...row } of rows) {
    const key = `${webhookLogId} ${endpointId}`;
    if (whyNot !== null) page.notReplayed[whyNot] = (page.notReplayed[whyNot] ?? 0) + 1;
    else if (!seen.has(key)) {
      bytes += row.bytes;
      if (bytes > bytesMax && page.candidates.length > 0) return { ...page, next: previous };
      page.candidates.push({ webhookLogId, endpointId });
    }
    seen.add(key);
    previous = cursor;
  }
  return page;
}
