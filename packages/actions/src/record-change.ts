import { isDeepStrictEqual } from 'node:util';
import { insertAdminLog } from '@hqrelay/db/queries/admin-log';
import { newId } from '@hqrelay/domain/ids';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import type pg from 'pg';
import type { Actor } from './action.ts';

/** The fields of one thing, none of them a secret. */
type Fields = Readonly<Record<string, unknown>>;

export type Change = {
  /** `noun.verb`. */
  action: string;
  projectId: string | null;
  /** The id of the changed thing. */
  target: string;
  /** Null when it is new. */
  before: Fields | null;
  after: Fields;
  /** Further inputs and effects of the action. */
  more?: Fields;
};

/** Inserts the `admin_log` row of a change, in the transaction that makes it. An action that changed no field has no row. */
export async function recordChange(client: pg.PoolClient, actor: Actor, change: Change): Promise<void> {
  const { action, projectId, target, before, after, more = {} } = change;
  const details = { ...changedFields(before, after), ...more };
  if (Object.keys(details).length === 0) return;
  await insertAdminLog(client, { id: newId(Date.now()), actor, action, projectId, target, details });
}

/** The fields that differ, before and after the change; empty when none does. */
export function changedFields(before: Fields | null, after: Fields): { before?: Fields; after?: Fields } {
  if (before === null) return { after: redacted(after) };
  const changed = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (changed.length === 0) return {};
  const pick = (fields: Fields) =>
    redacted(Object.fromEntries(changed.map((name) => [name, fields[name] ?? null])));
  return { before: pick(before), after: pick(after) };
}

/** Query parameters of a URL may be credentials. */
function redacted(fields: Fields): Fields {
  return typeof fields['url'] === 'string' ? { ...fields, url: redactUrl(fields['url']) } : fields;
}
