import { z } from 'zod';
import { refuseOtherEndpoints } from '../api/find-named.ts';
import { defineRoute } from '../api/route.ts';
import { uuid } from '../schemas/fields.ts';
import { statistics, statisticsQuery } from '../schemas/statistics.ts';
import { readStatistics } from '../statistics/read-statistics.ts';

const dayMs = 86_400_000;

export const statisticsRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/v1/projects/{projectId}/statistics',
    name: 'getStatistics',
    summary: 'What a project received, delivered and failed to deliver, step by step',
    tag: 'Statistics',
    role: 'viewer',
    params: z.strictObject({ projectId: uuid }),
    names: { projectId: 'project' },
    query: statisticsQuery,
    statusCode: 200,
    answer: statistics,
    handle: async ({ pool, reads, now }, { params: { projectId }, query }) => {
      const { endpointId, since, until = now() } = query;
      if (endpointId !== undefined) {
        const refused = await refuseOtherEndpoints(pool, projectId, [endpointId]);
        if (refused) return refused;
      }
      const asked = { ...query, projectId, since: since ?? until - dayMs, until };
      return readStatistics(reads, asked, now());
    },
  }),
];
