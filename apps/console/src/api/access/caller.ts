import type { Actor } from '@hqrelay/actions/action';
import type { ApiKey } from '@hqrelay/db/queries/api-keys';
import type { Session } from '@hqrelay/db/queries/sessions';
import { refuse, type ApiRefusal } from '../route.ts';

/** The key or the session that a request is made with. */
export type Caller = Pick<ApiKey, 'id' | 'role' | 'projectId' | 'hidePayloads' | 'expiresAt'> & {
  kind: 'key' | 'session';
  /** The name of the key, or the subject of the session. */
  name: string;
  /** In `admin_log`. */
  actor: Actor;
  /** The URL that the pages of a session link back to. */
  returnUrl: string | null;
};

export function callerOfKey(key: ApiKey): Caller {
  const { id, name, role, projectId, hidePayloads, expiresAt } = key;
  const shown = { id, name, role, projectId, hidePayloads, expiresAt };
  return { ...shown, kind: 'key', actor: `key:${id}`, returnUrl: null };
}

export function callerOfSession(session: Session): Caller {
  const { id, subject, role, projectId, hidePayloads, expiresAt, returnUrl } = session;
  const shown = { id, name: subject, role, projectId, hidePayloads, expiresAt, returnUrl };
  return { ...shown, kind: 'session', actor: `session:${subject}` };
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
