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
 * A page of webhooks that stands still: rows change in place, and what arrived since it was opened is counted, not inserted,
 * until `showNew`. Nothing is asked while the tab is hidden.
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
  const [topId, setTopId] = useState<string>();
  const items = page.data?.items ?? [];
  const known = topId ?? items[0]?.id;
  if (topId === undefined && known !== undefined && isNewest) setTopId(known);
  const isKnown = ({ id }: ListedWebhook) => !isNewest || topId === undefined || id <= topId;
  const shown = items.filter(isKnown);
  return {
    page,
    shown: shown.length > 0 ? shown : items,
    // UUIDv7: what arrived later has a higher id. Where all rows are new there may be more than the page has.
    newCount: shown.length > 0 ? items.length - shown.length : 0,
    showNew: () => {
      setTopId(undefined);
      void client.invalidateQueries({ queryKey: [operation] });
    },
  };
}
