import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/read.ts';
import { Time } from '../../display/zone.tsx';
import { secretsValidAt } from './secrets-valid-at.ts';

type Props = {
  projectId: string;
  receivedAt: string;
  /** The id of the secret, where it is known. */ secretId: string | null;
};

/** Which secret verified a webhook. Where the stored request does not tell, the secrets that were valid then. */
export function VerifiedWith({ projectId, receivedAt, secretId }: Props) {
  const { data } = useQuery({
    ...read('get /api/v1/projects/{projectId}/secrets', { params: { projectId } }),
    staleTime: 60_000,
  });
  const found = data?.items.find(({ id }) => id === secretId);
  const valid = data ? secretsValidAt(data.items, receivedAt) : [];
  const only = found ?? (valid.length === 1 ? valid[0] : undefined);
  if (only) {
    return (
      <>
        Its signature matches the secret of <Time at={only.createdAt} />
        {only.status !== 'active' && `, which is ${only.status} now`}.
      </>
    );
  }
  return valid.length === 0
    ? 'Its signature matches a secret of the project.'
    : `Its signature matches one of the ${valid.length} secrets that were valid then.`;
}
