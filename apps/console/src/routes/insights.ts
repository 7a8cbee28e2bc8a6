import { readProject, type Project } from '@hqrelay/db/queries/projects';
import { periodAsked, periodProblem, readInsights } from '@hqrelay/insights/read-insights';
import { z } from 'zod';
import { defineRoute, refuse, reply } from '../api/route.ts';
import { uuid } from '../schemas/fields.ts';
import { insights, insightsQuery } from '../schemas/insight.ts';

export const insightRoutes = [
  defineRoute({
    method: 'get',
    path: '/v1/dashboard/insights/{projectId}',
    name: 'getInsights',
    summary: 'What is noteworthy about a project, with evidence, and what a model makes of it',
    tag: 'Insights',
    role: 'viewer',
    params: z.strictObject({ projectId: uuid }),
    names: { projectId: 'project' },
    query: insightsQuery,
    statusCode: 200,
    answer: insights,
    handle: async ({ pool, reads, model, caller, now }, { params: { projectId }, query }) => {
      const period = periodAsked({ ...query, now: now() });
      const problem = periodProblem(period);
      if (problem) return refuse(400, 'insights.period', `query.${problem}`);
      const project = (await readProject(pool, projectId)) as Project;
      const shown = { showsAnswers: !caller.hidePayloads, wantsSummary: query.summary ?? true };
      const found = await readInsights({ reads, pool, model }, { project, ...period, now: now(), ...shown });
      return reply({
        ...found,
        since: new Date(found.since),
        until: new Date(found.until),
        findings: found.findings.map((each) => ({
          ...each,
          since: new Date(each.since),
          until: new Date(each.until),
          exampleIds: [...each.exampleIds],
        })),
      });
    },
  }),
];
