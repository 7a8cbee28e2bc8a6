import type { Endpoint } from '../api/entities.ts';
import { Tag } from '../components/tag.tsx';

const breakers = { open: 'breaker open', half_open: 'breaker half open' } as const;

/** Whether the endpoint gets webhooks, and whether its breaker holds them. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  const { enabled, paused, disabledBy, archivedAt, breaker } = endpoint;
  if (archivedAt !== null) return <Tag>archived</Tag>;
  if (!enabled) return <Tag tone="bad">{disabledBy === 'relay' ? 'disabled by the relay' : 'disabled'}</Tag>;
  return (
    <>
      {paused ? <Tag tone="warn">paused</Tag> : <Tag tone="good">active</Tag>}
      {breaker.state !== 'closed' && <Tag tone="bad">{breakers[breaker.state]}</Tag>}
    </>
  );
}
