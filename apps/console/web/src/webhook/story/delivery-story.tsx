import { Link } from '@tanstack/react-router';
import type { Attempt, WebhookDetails } from '../../api/entities.ts';
import { Tag } from '../../components/tag.tsx';
import { formatDuration } from '../../display/time-format.ts';
import { deliveryStates } from '../../display/states.ts';
import { Time } from '../../display/zone.tsx';
import { DeliveryDecisions } from './delivery-decisions.tsx';
import { Step } from './step.tsx';
import type { Story } from './stories.ts';
import { useLastChange } from './use-last-change.ts';
import { WhyItWaits } from './why-it-waits.tsx';

type Props = Story & { webhook: WebhookDetails['webhook'] };

/** One delivery: its endpoint, every attempt and the next step. */
export function DeliveryStory({ delivery, attempts, replay, webhook }: Props) {
  const isWaiting = delivery.state === 'waiting' || delivery.state === 'held';
  return (
    <>
      <Begin delivery={delivery} replay={replay} projectId={webhook.projectId} />
      {attempts.map((attempt, index) => (
        <AttemptStep key={attempt.id} attempt={attempt} isLast={index === attempts.length - 1} />
      ))}
      {isWaiting && <WhyItWaits delivery={delivery} projectId={webhook.projectId} />}
      {delivery.state === 'dead_lettered' && <DeadLetterStep delivery={delivery} webhook={webhook} />}
      {delivery.state === 'cancelled' && <Cancelled delivery={delivery} projectId={webhook.projectId} />}
    </>
  );
}

function Begin({ delivery, replay, projectId }: Pick<Props, 'delivery' | 'replay'> & { projectId: string }) {
  const { label, tone } = deliveryStates[delivery.state];
  return (
    <Step
      tone="plain"
      title={
        <span className="flex flex-wrap items-center gap-2">
          <Link
            to="/projects/$projectId/endpoints/$endpointId"
            params={{ projectId, endpointId: delivery.endpointId }}
            className="break-all text-ink underline decoration-line-strong underline-offset-2"
          >
            {delivery.url ?? 'An unknown endpoint'}
          </Link>
          <Tag tone={tone}>{label}</Tag>
        </span>
      }
      {...(replay && { time: <Time at={replay.requestedAt} /> })}
    >
      {replay && `Replayed by ${replay.requestedBy}.`}
    </Step>
  );
}

function DeadLetterStep({ delivery, webhook }: Pick<Props, 'delivery' | 'webhook'>) {
  const { deadReason, replayedAt } = delivery;
  return (
    <Step tone="bad" title="Dead letter">
      {sentenceOf(deadReason ?? 'the schedule is used up')}
      {replayedAt === null
        ? ' Repair the endpoint, then replay this webhook: nothing else sends it again.'
        : ' It was replayed: see below.'}
      {replayedAt === null && <DeliveryDecisions delivery={delivery} webhook={webhook} />}
    </Step>
  );
}

function sentenceOf(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

function Cancelled({ delivery, projectId }: Pick<Props, 'delivery'> & { projectId: string }) {
  const change = useLastChange({ projectId, target: delivery.deliveryId, action: 'delivery.cancel' });
  return (
    <Step title="Cancelled" {...(change && { time: <Time at={change.at} /> })}>
      {change ? `By ${change.actor}. ` : ''}No further attempt is made.
    </Step>
  );
}

/** The answer to the last attempt is open where it failed, because it tells the reader the fault. */
function AttemptStep({ attempt, isLast }: { attempt: Attempt; isLast: boolean }) {
  const { attemptNum, status, statusCode, latencyMs, error, responseBody, lane, nextAttemptAt } = attempt;
  const isDelivered = status === 'delivered';
  return (
    <Step
      tone={isDelivered ? 'good' : 'bad'}
      title={
        <>
          Attempt {attemptNum}: {statusCode === null ? 'no answer' : `answered ${statusCode}`}
          <span className="font-normal text-muted"> in {formatDuration(latencyMs)}</span>
        </>
      }
      time={<Time at={attempt.attemptedAt} />}
    >
      {error !== null && <span className="block break-words text-ink">{error}</span>}
      {lane === 'replay' && attemptNum === 1 && 'A replay. '}
      {nextAttemptAt !== null && (
        <>
          The next one was scheduled for <Time at={nextAttemptAt} />.
        </>
      )}
      {responseBody !== null && responseBody !== '' && (
        <details className="mt-1" open={isLast && !isDelivered}>
          <summary className="text-sm text-accent">What it answered</summary>
          <pre
            // A region that scrolls must be reachable by keyboard.
            tabIndex={0}
            className="mt-1 mb-0 max-h-64 overflow-auto rounded-md bg-raised p-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-ink"
          >
            {responseBody}
          </pre>
        </details>
      )}
    </Step>
  );
}
