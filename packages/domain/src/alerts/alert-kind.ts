/** What a rule can alert on. */
export const alertKinds = [
  'dead_letter',
  'endpoint_failing',
  'endpoint_recovered',
  'endpoint_disabled',
  'signature_rejections',
  'rate_limit_near',
  'project_silent',
  'backlog_growing',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** What a message is about: also a test of a rule, and the mail to the operator about broken channels. */
export const alertTypes = [...alertKinds, 'test', 'channel_broken'] as const;
export type AlertType = (typeof alertTypes)[number];

export const alertChannels = ['email', 'webhook', 'slack'] as const;
export type AlertChannel = (typeof alertChannels)[number];

/** The kinds that a rule is evaluated for: `endpoint_failing` tells the recovery too, so `endpoint_recovered` adds nothing to it. */
export function evaluatedKinds(kinds: readonly AlertKind[]): AlertKind[] {
  return kinds.filter((kind) => kind !== 'endpoint_recovered' || !kinds.includes('endpoint_failing'));
}
