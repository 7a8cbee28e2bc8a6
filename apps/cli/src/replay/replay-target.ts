import { readEndpoint } from '@hqrelay/db/queries/endpoints';
import type pg from 'pg';

/** Where a replay goes, and why it would wait there. */
export type ReplayTarget = {
  endpointId: string;
  projectId: string;
  url: string;
  heldBecause: 'paused' | 'disabled' | null;
};

/** Null when there is no such endpoint. */
export async function readReplayTarget(pool: pg.Pool, endpointId: string): Promise<ReplayTarget | null> {
  const endpoint = await readEndpoint(pool, endpointId);
  if (!endpoint) return null;
  const { projectId, url, enabled, paused } = endpoint;
  return { endpointId, projectId, url, heldBecause: enabled ? (paused ? 'paused' : null) : 'disabled' };
}

export function heldNote({ heldBecause }: Pick<ReplayTarget, 'heldBecause'>): string | null {
  return heldBecause && `the endpoint is ${heldBecause}: held until it is not`;
}
