import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { keepRows, read } from '../api/read.ts';
import { Pager } from '../components/pager.tsx';
import { RowList } from '../components/row-list.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { pageParams } from '../routing/opened-at.ts';
import { DeadLetterRow } from './dead-letter-row.tsx';

/** Which dead letters are listed, and replayed by "Replay all". */
export type DeadLetterFilter = { endpointId?: string; since?: string };

type Props = {
  projectId: string;
  filter: DeadLetterFilter;
  replayedToo: boolean;
  cursor: string | undefined;
  openedAt: number;
};

export function DeadLetterList({ projectId, filter, replayedToo, cursor, openedAt }: Props) {
  const navigate = useNavigate({ from: '/projects/$projectId/dead-letters' });
  const query = {
    ...filter,
    ...(replayedToo && { replayed: 'true' as const }),
    ...(cursor !== undefined && { cursor }),
  };
  const list = useQuery({
    ...read('get /api/v1/projects/{projectId}/dead-letters', { params: { projectId }, query }),
    ...keepRows,
    refetchInterval: cursor === undefined ? 15_000 : false,
  });
  const goTo = (next: string | undefined) =>
    void navigate({ search: (search) => ({ ...search, ...pageParams(next, openedAt) }) });
  return (
    <Shown query={list}>
      {({ items, ...page }) => (
        <>
          {items.length === 0 ? (
            <NoDeadLetter isFiltered={Object.keys(filter).length > 0} />
          ) : (
            <RowList>
              {items.map((deadLetter) => (
                <DeadLetterRow key={deadLetter.id} deadLetter={deadLetter} projectId={projectId} />
              ))}
            </RowList>
          )}
          <Pager page={page} cursor={cursor} goTo={goTo} />
        </>
      )}
    </Shown>
  );
}

function NoDeadLetter({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Empty title="No dead letter">
      {isFiltered
        ? 'None of this endpoint and period. Choose any endpoint and any time to see the others.'
        : 'Every delivery of this project was delivered or still has attempts.'}
    </Empty>
  );
}
