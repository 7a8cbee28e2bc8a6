import { Link } from '@tanstack/react-router';
import type { Delivery } from '../../api/entities.ts';
import { Tag } from '../../components/tag.tsx';
import { deliveryStates } from '../../display/states.ts';
import { RelativeTime } from '../../display/zone.tsx';

type Props = { order: NonNullable<Delivery['order']>; projectId: string };

/** The delivery that is the first of the key, with its own state. */
export function Behind({ order: { key, behind }, projectId }: Props) {
  if (behind === null) {
    return <span className="block break-words">It is the next one of the key {key}.</span>;
  }
  const { label, tone } = deliveryStates[behind.state];
  return (
    <span className="block break-words">
      Behind{' '}
      <Link
        to="/projects/$projectId/webhooks/$webhookId"
        params={{ projectId, webhookId: behind.webhookId }}
        className="font-mono text-xs break-all text-accent underline"
      >
        {behind.webhookId}
      </Link>{' '}
      of the key {key}: <Tag tone={tone}>{label}</Tag>
      {behind.nextAttemptAt !== null && (
        <>
          , next attempt <RelativeTime at={behind.nextAttemptAt} />
        </>
      )}
      {behind.state === 'dead_lettered' && ' Replay or cancel that one: its key is held until then.'}
    </span>
  );
}
