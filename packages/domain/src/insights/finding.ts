import { hash } from 'node:crypto';
import type { Period, ProjectFacts } from './facts.ts';

export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

export const findingKinds = [
  'endpoint_failing',
  'endpoint_disabled',
  'dead_letters',
  'deliveries_held',
  'second_attempt_succeeds',
  'endpoint_slow',
  'timeout_near',
  'requests_rejected',
  'requests_rate_limited',
  'rate_limit_near',
  'duplicates',
  'conflicts',
  'event_type_untaken',
  'volume_changed',
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** A fact that a person should know, with its evidence. */
export type Finding = {
  /** The same for as long as the same thing is found of the same subject. */
  id: string;
  kind: FindingKind;
  severity: Severity;
  /** Plain text. */
  text: string;
  counts: Readonly<Record<string, number>>;
  /** ms since epoch. */
  since: number;
  until: number;
  /** Ids of webhooks, the newest first. */
  exampleIds: readonly string[];
  /** Returns the examples among its rows; `hqrelay_reader` may run it. */
  sql: string;
};

/** How a text names what depends on its reader. */
export type Wording = {
  endpoint: (endpoint: { id: string; url: string }) => string;
  /** Text that a provider or an endpoint wrote. `webhookId` names the webhook that it is an answer to. */
  quoted: (text: string, webhookId?: string) => string;
  count: (count: number) => string;
  /** A share from 0 to 1. */
  percent: (share: number) => string;
  /** A duration. */
  ms: (ms: number) => string;
  /** ms since epoch. */
  time: (at: number) => string;
};

export type Rule = (facts: ProjectFacts, say: Wording) => Finding[];

/** `subject`: what tells this finding from others of its kind and project. */
export function newFinding(
  { projectId, period }: Pick<ProjectFacts, 'projectId' | 'period'>,
  subject: readonly (string | number | null)[],
  finding: Omit<Finding, 'id' | 'since' | 'until'> & Partial<Pick<Period, 'since'>>,
): Finding {
  const digest = hash('sha256', JSON.stringify([projectId, finding.kind, ...subject]));
  return {
    since: period.since,
    until: period.until,
    ...finding,
    id: `${finding.kind}-${digest.slice(0, 10)}`,
  };
}
