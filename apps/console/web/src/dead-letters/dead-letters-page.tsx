import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { SelectField } from '../components/field.tsx';
import { PageHead } from '../components/page.tsx';
import { EndpointField } from '../endpoints/endpoint-field.tsx';
import { useMe } from '../layout/me.ts';
import { useOpenedAt } from '../routing/opened-at.ts';
import { sinceOf } from '../webhooks/filters.ts';
import { DeadLetterList } from './dead-letter-list.tsx';
import { PeriodField } from './period-field.tsx';
import { ReplayAllButton } from './replay-all-button.tsx';
import { ReplayJobs } from './replay-jobs.tsx';
import { SendMissed } from './send-missed.tsx';

const from = '/signed-in/projects/$projectId/dead-letters' as const;

export function DeadLettersPage() {
  const { projectId } = useParams({ from });
  const { cursor, openedAt: inUrl, ...filters } = useSearch({ from });
  const openedAt = useOpenedAt(inUrl);
  const { may } = useMe();
  const { endpointId, last, replayed } = filters;
  const filter = { ...(endpointId !== undefined && { endpointId }), ...sinceOf(last, openedAt) };
  return (
    <>
      <PageHead
        title="Dead letters"
        sub="Deliveries that used up their schedule. They stay until they are replayed."
        actions={
          may('operator') && (
            <>
              <SendMissed projectId={projectId} />
              <ReplayAllButton projectId={projectId} filter={filter} />
            </>
          )
        }
      />
      <ReplayJobs projectId={projectId} />
      <FilterFields projectId={projectId} filters={filters} />
      <DeadLetterList {...{ projectId, filter, cursor, openedAt }} replayedToo={replayed === 'true'} />
    </>
  );
}

type Filters = { endpointId?: string; last?: string; replayed?: string };

function FilterFields({ projectId, filters }: { projectId: string; filters: Filters }) {
  const navigate = useNavigate({ from: '/projects/$projectId/dead-letters' });
  const set = (changed: Filters) => void navigate({ search: { ...filters, ...changed } });
  return (
    <div className="mb-4 grid grid-cols-1 gap-2 sm:grid-cols-3">
      <EndpointField
        projectId={projectId}
        any="any"
        value={filters.endpointId ?? ''}
        onChange={(endpointId) => set({ endpointId })}
      />
      <PeriodField
        label="Died in"
        any="any time"
        value={filters.last ?? ''}
        onChange={(last) => set({ last })}
      />
      <SelectField
        label="Show"
        value={filters.replayed ?? ''}
        onChange={({ target }) => set({ replayed: target.value })}
      >
        <option value="">those to decide on</option>
        <option value="true">those that were replayed too</option>
      </SelectField>
    </div>
  );
}
