import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ListedWebhook } from '../api/entities.ts';
import type { QueryOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';
import { followLive } from '../live/follow-live.ts';
import { throttle } from '../live/throttle.ts';

const operation = 'get /api/v1/projects/{projectId}/webhooks';
const pollMs = 5_000;
const refreshMs = 1_000;

type Options = { projectId: string; query: QueryOf<typeof operation>; cursor: string | undefined };

/**
 * A page of webhooks that stands still: rows change in place, and webhooks that arrived since it was opened are counted, not
 * inserted, until `showNew`. A hidden tab sends no request.
 */
export function useWebhookPage({ projectId, query, cursor }: Options) {
  const client = useQueryClient();
  const isNewest = cursor === undefined;
  const input = { params: { projectId }, query: { ...query, ...(cursor !== undefined && { cursor }) } };
  const page = useQuery({
    ...read(operation, input),
    ...keepRows,
    refetchInterval: isNewest ? pollMs : false,
  });
  useEffect(() => {
    if (!isNewest) return;
    const refresh = throttle(() => void client.invalidateQueries({ queryKey: [operation] }), refreshMs);
    const stop = followLive(projectId, refresh);
    return () => {
      stop();
      refresh.cancel();
    };
  }, [client, projectId, isNewest]);
  const [opened, setOpened] = useState<ListedWebhook[]>();
  const items = page.data?.items ?? [];
  if (opened === undefined && items.length > 0 && isNewest) setOpened(items);
  const { shown, newCount } = splitNew(items, isNewest ? opened : undefined);
  return {
    page,
    shown,
    newCount,
    /** Whether there may be more new ones than the page has rows. */
    isCapped: newCount > 0 && newCount === items.length,
    showNew: () => {
      setOpened(undefined);
      void client.invalidateQueries({ queryKey: [operation] });
    },
  };
}

/**
 * `opened` are the rows with which the list was opened. UUIDv7: a webhook that arrived later has a higher id. When every row is
 * new, the rows of then stay.
 */
export function splitNew<Row extends { id: string }>(
  items: Row[],
  opened: Row[] | undefined,
): { shown: Row[]; newCount: number } {
  const topId = opened?.[0]?.id;
  const shown = items.filter(({ id }) => topId === undefined || id <= topId);
  const isAllNew = shown.length === 0 && items.length > 0;
  return { shown: isAllNew ? (opened ?? []) : shown, newCount: items.length - shown.length };
}
