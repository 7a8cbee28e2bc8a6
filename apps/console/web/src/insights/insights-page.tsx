import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { keepRows, read } from '../api/read.ts';
import { PageHead } from '../components/page.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { Time } from '../display/zone.tsx';
import { PeriodSwitch } from '../overview/period-switch.tsx';
import { periodOf, periods, type PeriodName } from '../overview/period.ts';
import { FindingCard } from './finding-card.tsx';
import { Summary } from './summary.tsx';

const from = '/signed-in/projects/$projectId/insights' as const;
const operation = 'get /v1/dashboard/insights/{projectId}';

/** What is noteworthy about a project: the findings at once, and below them what a model makes of them. */
export function InsightsPage() {
  const { projectId } = useParams({ from });
  const name = periodOf(useSearch({ from }).last);
  const navigate = useNavigate({ from: '/projects/$projectId/insights' });
  return (
    <>
      <PageHead
        title="Insights"
        sub="What is noteworthy, the gravest first, each with its evidence."
        actions={<PeriodSwitch name={name} choose={(last) => void navigate({ search: { last } })} />}
      />
      <Findings key={name} projectId={projectId} name={name} />
    </>
  );
}

function Findings({ projectId, name }: { projectId: string; name: PeriodName }) {
  const [openedAt] = useState(Date.now);
  const since = new Date(openedAt - periods[name].ms).toISOString();
  const params = { projectId };
  const found = useQuery({ ...read(operation, { params, query: { since, summary: 'false' } }), ...keepRows });
  const written = useQuery({
    ...read(operation, { params, query: { since } }),
    // A model is asked once, not whenever the window is looked at.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  return (
    <Shown query={found}>
      {({ findings, since: begin, until }) => (
        <div className="grid grid-cols-1 gap-4">
          {findings.length > 0 && <Summary query={written} />}
          {findings.length === 0 ? (
            <Empty title="Nothing noteworthy">
              No failures, rejected requests, backlogs or slow endpoints in this period.
            </Empty>
          ) : (
            findings.map((finding) => (
              <FindingCard key={finding.id} projectId={projectId} finding={finding} />
            ))
          )}
          <p className="m-0 text-xs text-muted">
            From <Time at={begin} /> to <Time at={until} />.
          </p>
        </div>
      )}
    </Shown>
  );
}
