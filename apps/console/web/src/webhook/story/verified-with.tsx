import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/read.ts';
import { Time } from '../../display/zone.tsx';
import { secretsValidAt } from './secrets-valid-at.ts';

/** Which secrets could have verified a webhook. The relay stores no secret per webhook; the period of each one tells. */
export function VerifiedWith({ projectId, receivedAt }: { projectId: string; receivedAt: string }) {
  const { data } = useQuery({
    ...read('get /api/v1/projects/{projectId}/secrets', { params: { projectId } }),
    staleTime: 60_000,
  });
  const valid = data ? secretsValidAt(data.items, receivedAt) : [];
  const [only] = valid;
  if (!only) return 'Its signature matches a secret of the project.';
  if (valid.length > 1) {
    return `Its signature matches one of the ${valid.length} secrets that were valid then.`;
  }
  return (
    <>
      Its signature matches the secret of <Time at={only.createdAt} />.
    </>
  );
}
