import type { Reading } from '../api/operations.ts';

/** The answers that a change of an endpoint makes stale. */
export const endpointReadings: readonly Reading[] = [
  'get /api/v1/projects/{projectId}/endpoints',
  'get /api/v1/projects/{projectId}/endpoints/{endpointId}',
  'get /api/v1/webhooks/{id}',
];
