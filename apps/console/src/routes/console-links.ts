import { createConsoleLink } from '@hqrelay/actions/session/create-console-link';
import { refuseToExceed } from '../api/access/caller.ts';
import { defineRoute } from '../api/route.ts';
import { createdConsoleLink, newConsoleLink } from '../schemas/session.ts';
import { mapReply } from './map-reply.ts';

const hour = 3_600;

export const consoleLinkRoutes = [
  defineRoute({
    method: 'post',
    path: '/api/v1/console-links',
    name: 'createConsoleLink',
    summary: 'Make a link that signs one browser in to the console; it is shown this once only',
    tag: 'Access',
    role: 'admin',
    body: newConsoleLink,
    example: { role: 'viewer', subject: 'support@example.com', expiresInSeconds: 600 },
    refusals: [404],
    statusCode: 201,
    answer: createdConsoleLink,
    handle: async ({ caller, actions, consoleUrl }, { body }) => {
      const { subject, role, returnUrl = null, expiresInSeconds = hour } = body;
      const projectId = body.projectId ?? caller.projectId;
      const hidePayloads = body.hidePayloads ?? caller.hidePayloads;
      const refused = refuseToExceed(caller, { projectId, hidePayloads });
      if (refused) return refused;
      const grant = { subject, role, projectId, hidePayloads, returnUrl };
      const input = { ...grant, expiresInMs: expiresInSeconds * 1_000, consoleUrl };
      return mapReply(await createConsoleLink(actions, input), ({ url, link }) => ({
        url,
        expiresAt: link.expiresAt,
      }));
    },
  }),
];
