import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Endpoint } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { Card, PageHead } from '../components/page.tsx';
import { Shown } from '../components/states.tsx';
import { SendMissed } from '../dead-letters/send-missed.tsx';
import { formatDuration } from '../display/time-format.ts';
import { Time } from '../display/zone.tsx';
import { useMe } from '../layout/me.ts';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointBacklog } from './endpoint-backlog.tsx';
import { EndpointBreaker } from './endpoint-breaker.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { EditEndpoint } from './form/edit-endpoint.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { Verification } from './verification/verification.tsx';

export function EndpointPage() {
  const params = useParams({ from: '/signed-in/projects/$projectId/endpoints/$endpointId' });
  const endpoint = useQuery({
    ...read('get /api/v1/projects/{projectId}/endpoints/{endpointId}', { params }),
    refetchInterval: 5_000,
  });
  return <Shown query={endpoint}>{(found) => <OneEndpoint endpoint={found} />}</Shown>;
}

function OneEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const { may } = useMe();
  const mayChange = may('operator') && endpoint.archivedAt === null;
  return (
    <>
      <PageHead
        title={endpoint.url}
        sub={
          <span className="flex flex-wrap gap-1.5">
            <EndpointState endpoint={endpoint} />
          </span>
        }
        actions={
          mayChange && (
            <>
              <EditEndpoint endpoint={endpoint} />
              <RotateSecret endpoint={endpoint} />
            </>
          )
        }
      />
      <div className="mb-4">
        <EndpointActions endpoint={endpoint} />
      </div>
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
        <div className="grid grid-cols-1 gap-4">
          <Card
            title="Its webhooks"
            actions={mayChange && <SendMissed projectId={endpoint.projectId} endpointId={endpoint.id} />}
          >
            <EndpointBacklog endpoint={endpoint} />
          </Card>
          <Card title="Breaker">
            <EndpointBreaker endpoint={endpoint} />
          </Card>
          <Card title="Settings">
            <Settings endpoint={endpoint} />
          </Card>
        </div>
        <Verification projectId={endpoint.projectId} />
      </div>
    </>
  );
}

function Settings({ endpoint }: { endpoint: Endpoint }) {
  const { eventTypes, retrySchedule, timeoutMs, orderingKey, onDeadLetter, disabledReason } = endpoint;
  const secrets = [
    ...(endpoint.hasHeaders ? ['fixed headers'] : []),
    ...(endpoint.hasCa ? ['its own certificate authorities'] : []),
    ...(endpoint.hasClientCertificate ? ['a client certificate'] : []),
    ...(endpoint.forwardCredentials ? ["the provider's credential"] : []),
  ];
  return (
    <dl className="m-0 grid gap-3">
      {disabledReason !== null && <Fact name="Disabled because">{disabledReason}</Fact>}
      <Fact name="Event types">{eventTypes.length === 0 ? 'all' : eventTypes.join(', ')}</Fact>
      <Fact name="Attempts">
        One at once, then after {retrySchedule.join(', ')}; each at most {formatDuration(timeoutMs)}
      </Fact>
      <Fact name="Order">
        {orderingKey === null
          ? 'none: webhooks are delivered side by side'
          : `by ${orderingKey}; after a dead letter it ${onDeadLetter === 'hold' ? 'holds the key' : 'continues'}`}
      </Fact>
      {secrets.length > 0 && <Fact name="Sent too">{secrets.join(', ')}</Fact>}
      <Fact name="Released per second">{endpoint.releaseRate} held deliveries</Fact>
      <Fact name="Added">
        <Time at={endpoint.createdAt} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="m-0 break-words">{children}</dd>
    </div>
  );
}
