import type { Endpoint } from '../api/entities.ts';
import { Tag } from '../components/tag.tsx';

export function EndpointState({
  endpoint: { enabled, paused, disabledBy, archivedAt },
}: {
  endpoint: Endpoint;
}) {
  if (archivedAt !== null) return <Tag>archived</Tag>;
  if (!enabled) return <Tag tone="bad">{disabledBy === 'relay' ? 'disabled by the relay' : 'disabled'}</Tag>;
  return paused ? <Tag tone="warn">paused</Tag> : <Tag tone="good">active</Tag>;
}
