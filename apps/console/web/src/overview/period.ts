import type { QueryOf } from '../api/operations.ts';

type Step = NonNullable<QueryOf<'get /api/v1/projects/{projectId}/statistics'>['step']>;
type Period = { label: string; ms: number; step: Step; stepMs: number };

export const periods = {
  '24h': { label: '24 hours', ms: 86_400_000, step: '30m', stepMs: 1_800_000 },
  '7d': { label: '7 days', ms: 604_800_000, step: '1h', stepMs: 3_600_000 },
  '30d': { label: '30 days', ms: 2_592_000_000, step: '1d', stepMs: 86_400_000 },
} as const satisfies Record<string, Period>;

export type PeriodName = keyof typeof periods;

export function periodOf(text: string | undefined): PeriodName {
  return text !== undefined && text in periods ? (text as PeriodName) : '24h';
}
