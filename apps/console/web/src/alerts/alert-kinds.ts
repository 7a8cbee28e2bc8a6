import type { BodyOf } from '../api/operations.ts';

export type AlertKind = BodyOf<'post /api/v1/projects/{projectId}/alerts'>['on'][number];

/** Each kind by a word and the event that it is about. */
export const alertKinds: Record<AlertKind, { label: string; meaning: string }> = {
  dead_letter: { label: 'dead letters', meaning: 'A delivery used up its schedule.' },
  endpoint_failing: { label: 'endpoint fails', meaning: 'It has failed for five minutes.' },
  endpoint_recovered: { label: 'endpoint recovers', meaning: 'An endpoint that failed works again.' },
  endpoint_disabled: { label: 'endpoint disabled', meaning: 'It answered 410, and the relay disabled it.' },
  signature_rejections: { label: 'signatures rejected', meaning: 'A jump, as after a rotated secret.' },
  rate_limit_near: { label: 'rate limit near', meaning: 'The project uses most of its rate limit.' },
  project_silent: { label: 'project silent', meaning: 'It receives far less than is usual at this hour.' },
  backlog_growing: { label: 'backlog grows', meaning: 'More deliveries wait than are made.' },
};

const otherTypes = { test: 'a test', channel_broken: 'a broken channel' } as const;

export function labelOfType(type: AlertKind | keyof typeof otherTypes): string {
  return type in otherTypes
    ? otherTypes[type as keyof typeof otherTypes]
    : alertKinds[type as AlertKind].label;
}
