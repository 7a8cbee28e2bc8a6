import { revokeSession, revokeSessions } from '@hqrelay/actions/session/revoke-sessions';
import { readSessionPage } from '@hqrelay/db/queries/sessions';
import { z } from 'zod';
import { byCreation, readPage } from '../api/page.ts';
import { defineRoute, reply } from '../api/route.ts';
import { label, pageOf, pageQuery, uuid } from '../schemas/fields.ts';
import { me, revokedSessions, session } from '../schemas/session.ts';

const tag = 'Access';
const path = '/api/v1/sessions';

export const sessionRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/me',
    name: 'getMe',
    summary: 'Who asks, and what it may do',
    tag,
    role: 'viewer',
    statusCode: 200,
    answer: me,
    handle: async ({ caller }) => reply(caller),
  }),
  defineRoute({
    method: 'get',
    path,
    name: 'listSessions',
    summary:
      'The sessions of the console, the newest first; those of your project alone where you are bound to one',
    tag,
    role: 'admin',
    query: z.strictObject(pageQuery),
    statusCode: 200,
    answer: pageOf(session).meta({ id: 'SessionPage' }),
    handle: ({ caller: { projectId }, pool }, { query }) =>
      readPage(
        { list: 'sessions', projectId },
        query,
        (request) => readSessionPage(pool, { projectId }, request),
        byCreation,
      ),
  }),
  defineRoute({
    method: 'delete',
    path,
    name: 'revokeSessions',
    summary: 'End every session that you see but your own, and every sign-in link that is not used yet',
    tag,
    role: 'admin',
    query: z.strictObject({ subject: label(200).optional().describe('Of this subject alone.') }),
    statusCode: 200,
    answer: revokedSessions,
    handle: ({ caller, actions }, { query: { subject = null } }) =>
      revokeSessions(actions, { projectId: caller.projectId, subject, exceptId: caller.id }),
  }),
  defineRoute({
    method: 'delete',
    path: `${path}/current`,
    name: 'signOut',
    summary: 'End your own session',
    tag,
    role: 'viewer',
    needsSession: true,
    statusCode: 200,
    answer: session,
    handle: ({ caller, actions }) => revokeSession(actions, caller.id),
  }),
  defineRoute({
    method: 'delete',
    path: `${path}/{id}`,
    name: 'revokeSession',
    summary: 'End a session, from its next request on and for good',
    tag,
    role: 'admin',
    params: z.strictObject({ id: uuid }),
    names: { id: 'session' },
    statusCode: 200,
    answer: session,
    handle: ({ actions }, { params }) => revokeSession(actions, params.id),
  }),
];
