import type { ProjectFacts } from './facts.ts';
import { severities, type Finding, type Rule, type Wording } from './finding.ts';
import { findDeadLetters, findDisabled, findHeld } from './rules/backlog.ts';
import { findFailures, findHealingRetries } from './rules/failing-endpoints.ts';
import { findSlow } from './rules/latency.ts';
import { findNotQueued, findUntaken } from './rules/requests.ts';
import { findChangedVolume, findNearLimit } from './rules/traffic.ts';

const rules: readonly Rule[] = [
  findDisabled,
  findFailures,
  findDeadLetters,
  findHeld,
  findHealingRetries,
  findSlow,
  findNotQueued,
  findNearLimit,
  findUntaken,
  findChangedVolume,
];
const findingsMax = 50;

/** The findings of a project, the gravest first, those of one severity in the order of the rules and of their facts. */
export function findInsights(facts: ProjectFacts, say: Wording): Finding[] {
  const rank = ({ severity }: Finding) => severities.indexOf(severity);
  return rules
    .flatMap((rule) => rule(facts, say))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, findingsMax);
}
