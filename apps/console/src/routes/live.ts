import { z } from 'zod';
import { defineRoute, refuse, reply } from '../api/route.ts';
import { queryInteger, uuid } from '../schemas/fields.ts';

export const liveRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/projects/{projectId}/live',
    name: 'streamLive',
    summary: 'What arrives and what is attempted, as server-sent events',
    tag: 'Statistics',
    role: 'viewer',
    params: z.strictObject({ projectId: uuid }),
    names: { projectId: 'project' },
    query: z.strictObject({
      seconds: queryInteger(1, 300).default(300).describe('How long the stream stays open; reconnect then.'),
    }),
    statusCode: 200,
    answer: 'events',
    handle: async ({ live, caller }, { params: { projectId }, query: { seconds } }) => {
      switch (live.refusal(caller.id)) {
        case 'caller_full':
          return refuse(429, 'live.too_many', 'you have ten streams open: close one');
        case 'process_full':
          return refuse(503, 'live.full', 'this process has as many streams as it serves: poll the lists');
        case undefined:
          return reply((response) => live.open(response, { projectId, callerId: caller.id, seconds }));
      }
    },
  }),
];
