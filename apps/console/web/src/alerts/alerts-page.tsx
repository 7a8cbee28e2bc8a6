import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { keepRows, read } from '../api/read.ts';
import { Card, PageHead } from '../components/page.tsx';
import { Empty, Shown } from '../components/states.tsx';
import { useMe } from '../layout/me.ts';
import { AddAlert } from './add-alert.tsx';
import { AlertMessages } from './alert-messages.tsx';
import { AlertRow } from './alert-row.tsx';

const from = '/signed-in/projects/$projectId/alerts' as const;

export function AlertsPage() {
  const { projectId } = useParams({ from });
  const { cursor } = useSearch({ from });
  const { may } = useMe();
  const alerts = useQuery({
    ...read('get /api/v1/projects/{projectId}/alerts', { params: { projectId }, query: { limit: '200' } }),
    ...keepRows,
    refetchInterval: 15_000,
  });
  return (
    <>
      <PageHead
        title="Alerts"
        sub="Messages about this project by mail, webhook or Slack: one for a kind and an endpoint in a window."
        actions={may('operator') && <AddAlert projectId={projectId} />}
      />
      <div className="grid grid-cols-1 gap-4">
        <Card title="Rules">
          <Shown query={alerts}>
            {({ items }) =>
              items.length === 0 ? (
                <Empty title="No rule yet">Add one to hear of dead letters before your customers do.</Empty>
              ) : (
                <ul className="m-0 grid list-none gap-4 p-0">
                  {items.map((alert) => (
                    <AlertRow key={alert.id} alert={alert} />
                  ))}
                </ul>
              )
            }
          </Shown>
        </Card>
        <AlertMessages projectId={projectId} cursor={cursor} />
      </div>
    </>
  );
}
