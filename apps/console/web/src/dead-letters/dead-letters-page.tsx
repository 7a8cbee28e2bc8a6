import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { keepRows, read } from '../api/read.ts';
import { PageHead } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { SelectField } from '../components/field.tsx';
import { useMe } from '../layout/me.ts';
import { DeadLetterRow } from './dead-letter-row.tsx';
import { ReplayAllButton } from './replay-all-button.tsx';
import { ReplayJobs } from './replay-jobs.tsx';
import { SendMissed } from './send-missed.tsx';

const from = '/signed-in/projects/$projectId/dead-letters' as const;

export function DeadLettersPage() {
  const { projectId } = useParams({ from });
  const { endpointId, replayed, cursor } = useSearch({ from });
  const { may } = useMe();
  return (
    <>
      <PageHead
        title="Dead letters"
        sub="Deliveries that used up their schedule. They stay until they are replayed."
        actions={
          may('operator') && (
            <>
              <SendMissed projectId={projectId} />
              <ReplayAllButton projectId={projectId} endpointId={endpointId} />
            </>
          )
        }
      />
      <ReplayJobs projectId={projectId} />
      <Filters projectId={projectId} endpointId={endpointId} replayed={replayed} />
      <List {...{ projectId, endpointId, replayed, cursor }} />
    </>
  );
}

type FilterProps = { projectId: string; endpointId: string | undefined; replayed: string | undefined };

function Filters({ projectId, endpointId, replayed }: FilterProps) {
  const navigate = useNavigate({ from: '/projects/$projectId/dead-letters' });
  const endpoints = useQuery(
    read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
  );
  return (
    <div className="mb-4 grid grid-cols-1 gap-2 sm:grid-cols-2 lg:grid-cols-4">
      <SelectField
        label="Endpoint"
        value={endpointId ?? ''}
        onChange={({ target }) => void navigate({ search: { replayed, endpointId: target.value } })}
      >
        <option value="">any</option>
        {endpoints.data?.items.map(({ id, url }) => (
          <option key={id} value={id}>
            {url}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Show"
        value={replayed ?? ''}
        onChange={({ target }) => void navigate({ search: { endpointId, replayed: target.value } })}
      >
        <option value="">those to decide on</option>
        <option value="true">those that were replayed too</option>
      </SelectField>
    </div>
  );
}

function List({ projectId, endpointId, replayed, cursor }: FilterProps & { cursor: string | undefined }) {
  const navigate = useNavigate({ from: '/projects/$projectId/dead-letters' });
  const query = {
    ...(endpointId !== undefined && { endpointId }),
    ...(replayed === 'true' && { replayed: 'true' as const }),
    ...(cursor !== undefined && { cursor }),
  };
  const list = useQuery({
    ...read('get /api/v1/projects/{projectId}/dead-letters', { params: { projectId }, query }),
    ...keepRows,
  });
  const goTo = (next: string | undefined) =>
    void navigate({ search: (search) => ({ ...search, cursor: next }) });
  return (
    <Shown query={list}>
      {({ items, nextCursor, prevCursor }) => (
        <>
          {items.length === 0 ? (
            <Empty title="No dead letter">
              {endpointId === undefined
                ? 'Every delivery of this project was delivered or still has attempts.'
                : 'None of this endpoint. Choose any endpoint to see those of the others.'}
            </Empty>
          ) : (
            <ul className="m-0 list-none overflow-hidden rounded-lg border border-line bg-surface p-0">
              {items.map((deadLetter) => (
                <DeadLetterRow key={deadLetter.id} deadLetter={deadLetter} projectId={projectId} />
              ))}
            </ul>
          )}
          <Pager
            newer={prevCursor === null ? undefined : () => goTo(prevCursor)}
            older={nextCursor === null ? undefined : () => goTo(nextCursor)}
            newest={cursor === undefined ? undefined : () => goTo(undefined)}
          />
        </>
      )}
    </Shown>
  );
}
