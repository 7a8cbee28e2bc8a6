import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { WebhookDetails } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { Card, PageHead } from '../components/page.tsx';
import { Shown } from '../components/states.tsx';
import { Tag } from '../components/tag.tsx';
import { webhookStatuses } from '../display/states.ts';
import { RelativeTime, Time } from '../display/zone.tsx';
import { DeliveryStory } from './story/delivery-story.tsx';
import { ReceivedStory } from './story/received-story.tsx';
import { ReplayButton } from './replay-button.tsx';
import { RequestCard } from './request-card.tsx';
import { storiesOf } from './story/stories.ts';
import { WebhookFacts } from './webhook-facts.tsx';

const busyMs = 2_000;

/** The story of one webhook on one screen. */
export function WebhookPage() {
  const { webhookId } = useParams({ from: '/signed-in/projects/$projectId/webhooks/$webhookId' });
  const details = useQuery({
    ...read('get /api/v1/webhooks/{id}', { params: { id: webhookId } }),
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? busyMs : false),
  });
  return <Shown query={details}>{(found) => <Story details={found} />}</Shown>;
}

/** Whether a delivery waits, or is held, for an attempt that is due within a minute. A replay is held for a moment first. */
function isMoving({ deliveries, replays }: WebhookDetails): boolean {
  const soon = Date.now() + 60_000;
  return [...deliveries, ...replays].some(({ state, heldReason, heldUntil, nextAttemptAt }) => {
    const due = heldUntil ?? nextAttemptAt;
    if (state === 'held' && heldReason !== 'delay') return false;
    return (state === 'waiting' || state === 'held') && (due === null || Date.parse(due) < soon);
  });
}

function Story({ details }: { details: WebhookDetails }) {
  const { webhook } = details;
  const { label, tone, meaning } = webhookStatuses[webhook.status];
  return (
    <>
      <PageHead
        title={webhook.eventType ?? 'Webhook without an event type'}
        sub={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Tag tone={tone} title={meaning}>
              {label}
            </Tag>
            <span>
              <Time at={webhook.receivedAt} /> (<RelativeTime at={webhook.receivedAt} />)
            </span>
            <span className="font-mono text-xs break-all">{webhook.webhookId}</span>
          </span>
        }
        actions={webhook.status === 'queued' && <ReplayButton webhook={webhook} />}
      />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Card title="What happened">
          <ol className="m-0 list-none p-0">
            <ReceivedStory webhook={webhook} verifiedWith={details.verifiedWith} />
            {storiesOf(details).map((story) => (
              <DeliveryStory key={story.delivery.deliveryId} webhook={webhook} {...story} />
            ))}
          </ol>
        </Card>
        <WebhookFacts webhook={webhook} />
      </div>
      <div className="mt-4">
        <RequestCard details={details} />
      </div>
    </>
  );
}
