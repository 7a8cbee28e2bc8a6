import { useQuery } from '@tanstack/react-query';
import type { QueryOf } from '../api/operations.ts';
import { keepRows, read } from '../api/read.ts';

const operation = 'get /api/v1/projects/{projectId}/statistics';
export type StatisticsQuery = QueryOf<typeof operation>;

/** The endpoints of a project, and the attempts of each in a period. */
export function useEndpointStatistics(projectId: string, query: StatisticsQuery) {
  const endpoints = useQuery({
    ...read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
    refetchInterval: 30_000,
  });
  const grouped = useQuery({
    ...read(operation, { params: { projectId }, query: { ...query, groupBy: 'endpoint' } }),
    ...keepRows,
    refetchInterval: 60_000,
  });
  return { endpoints, grouped };
}
