import type { Actor } from '@hqrelay/actions/action';
import type { ApiKey } from '@hqrelay/db/queries/api-keys';
import { refuse, type ApiRefusal } from './route.ts';

/** The key or the session that a request is made with. */
export type Caller = Pick<ApiKey, 'id' | 'role' | 'projectId' | 'hidePayloads' | 'expiresAt'> & {
  kind: 'key' | 'session';
  /** The name of the key. */
  name: string;
  /** In `admin_log`. */
  actor: Actor;
};

export function callerOfKey(key: ApiKey): Caller {
  const { id, name, role, projectId, hidePayloads, expiresAt } = key;
  return { kind: 'key', id, name, role, projectId, hidePayloads, expiresAt, actor: `key:${id}` };
}

/** No caller makes a key or a link that sees more than itself. */
export function refuseToExceed(
  caller: Caller,
  { projectId, hidePayloads }: Pick<Caller, 'projectId' | 'hidePayloads'>,
): ApiRefusal | undefined {
  if (caller.projectId !== null && projectId !== caller.projectId) {
    return refuse(404, 'project.not_found', `there is no project ${projectId}`);
  }
  return caller.hidePayloads && !hidePayloads
    ? refuse(403, 'access.exceeds_own', 'payloads are hidden from you: you cannot show them to others')
    : undefined;
}
