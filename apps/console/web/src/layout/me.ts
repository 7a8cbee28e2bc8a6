import { useQuery } from '@tanstack/react-query';
import type { Me } from '../api/entities.ts';
import { read } from '../api/read.ts';

const ranks: Record<Me['role'], number> = { viewer: 0, operator: 1, admin: 2 };

/** The permissions of the reader; none until the API has answered. */
export function useMe() {
  const { data: me } = useQuery(read('get /api/v1/me', {}));
  return {
    me,
    may: (role: Me['role']) => me !== undefined && ranks[me.role] >= ranks[role],
  };
}
