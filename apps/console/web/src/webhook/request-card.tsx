import { useQuery } from '@tanstack/react-query';
import type { WebhookDetails } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Card } from '../components/page.tsx';
import { useMe } from '../layout/me.ts';
import { curlCommand } from '../payload/curl-command.ts';
import { payloadQuery } from '../payload/payload-query.ts';
import { PayloadView } from '../payload/payload-view.tsx';

type Request = NonNullable<WebhookDetails['request']>;

/** The request exactly as it came in, without credentials. */
export function RequestCard({ details: { webhook, request } }: { details: WebhookDetails }) {
  const { me } = useMe();
  if (request === null) {
    return (
      <Card title="Request">
        <p className="m-0 text-muted">
          {me?.hidePayloads === true
            ? 'Your access hides payloads and headers.'
            : 'The payload is not stored: unverified requests are logged without it, and old payloads are dropped by age.'}
        </p>
      </Card>
    );
  }
  return (
    <Card title="Request" actions={<CopyAsCurl webhook={webhook} request={request} />}>
      <div className="grid grid-cols-1 gap-5">
        <Headers request={request} />
        <section>
          <h3 className="mt-0 mb-2 text-sm font-semibold">Body</h3>
          <PayloadView webhookLogId={webhook.id} size={request.payloadBytes} />
        </section>
      </div>
    </Card>
  );
}

function Headers({ request: { headers, query } }: { request: Request }) {
  return (
    <details>
      <summary className="text-sm font-semibold">
        {headers.length} headers{query !== '' && ' and a query'}
      </summary>
      <dl className="mt-2 mb-0 grid grid-cols-1 gap-x-4 gap-y-1 font-mono text-xs sm:grid-cols-[minmax(8rem,16rem)_minmax(0,1fr)]">
        {query !== '' && <HeaderRow name="(query)" value={query} />}
        {headers.map(([name, value], at) => (
          <HeaderRow key={`${at} ${name}`} name={name} value={value} />
        ))}
      </dl>
    </details>
  );
}

function HeaderRow({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="break-all text-muted">{name}</dt>
      <dd className="m-0 mb-1 break-all sm:mb-0">{value}</dd>
    </>
  );
}

function CopyAsCurl({ webhook, request }: { webhook: WebhookDetails['webhook']; request: Request }) {
  const { projectId } = webhook;
  const project = useQuery(read('get /api/v1/projects/{projectId}', { params: { projectId } }));
  const payload = useQuery(payloadQuery(webhook.id, request.payloadBytes));
  if (!project.data || !payload.data) return null;
  const { webhookUrl } = project.data;
  const command = curlCommand({
    url: request.query === '' ? webhookUrl : `${webhookUrl}?${request.query}`,
    headers: request.headers,
    body: payload.data.isWhole ? payload.data.text : undefined,
    bodyFile: `${webhook.id}.bin`,
  });
  return <CopyButton text={command} label="Copy as curl" look="plain" />;
}
