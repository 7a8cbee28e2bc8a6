import type { Project } from '../../api/entities.ts';
import type { BodyOf } from '../../api/operations.ts';

type Changes = BodyOf<'patch /api/v1/projects/{projectId}'>;

/** The input of the form: numbers and lists as text. */
export type LimitFields = {
  name: string;
  rateLimit: string;
  idempotencyHours: string;
  onConflict: Project['onConflict'];
  sameBody: Project['sameBody'];
  searchKeys: string;
};

const hourSeconds = 3_600;

export function fieldsOf(project: Project): LimitFields {
  return {
    name: project.name,
    rateLimit: project.rateLimitPerMinute === null ? '' : String(project.rateLimitPerMinute),
    idempotencyHours: String(project.idempotencyTtlSeconds / hourSeconds),
    onConflict: project.onConflict,
    sameBody: project.sameBody,
    searchKeys: project.searchKeys.join(', '),
  };
}

/** Only the fields that differ from `before`. */
export function changesOf(before: LimitFields, after: LimitFields): Changes {
  const isChanged = (name: keyof LimitFields) => before[name] !== after[name];
  const rateLimit = after.rateLimit.trim();
  return {
    ...(isChanged('name') && { name: after.name }),
    ...(isChanged('rateLimit') && { rateLimitPerMinute: rateLimit === '' ? null : Number(rateLimit) }),
    ...(isChanged('idempotencyHours') && {
      idempotencyTtlSeconds: Math.round(Number(after.idempotencyHours) * hourSeconds),
    }),
    ...(isChanged('onConflict') && { onConflict: after.onConflict }),
    ...(isChanged('sameBody') && { sameBody: after.sameBody }),
    ...(isChanged('searchKeys') && {
      searchKeys: after.searchKeys.split(/[\s,]+/).filter((each) => each !== ''),
    }),
  };
}
