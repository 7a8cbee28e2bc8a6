import type { Reading } from '../api/operations.ts';

/** What a change of a rule makes stale. */
export const alertReadings: readonly Reading[] = [
  'get /api/v1/projects/{projectId}/alerts',
  'get /api/v1/projects/{projectId}/alerts/messages',
];
