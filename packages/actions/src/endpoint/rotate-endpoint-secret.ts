import * as queries from '@hqrelay/db/queries/endpoint-secrets';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { done, runAction, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { sealSecret } from '../sealing/seal-secret.ts';
import { takeEndpoint } from '../take-endpoint.ts';

/** The caller gets the signing secret this once. */
export type RotatedEndpointSecret = { projectId: string; signingSecret: string; overlapEndsAt: Date };

/** Gives an endpoint a new signing secret; deliveries carry the old signature too until the overlap ends. */
export async function rotateEndpointSecret(
  deps: SealingDeps,
  { endpointId, overlapMs }: { endpointId: string; overlapMs: number },
): Promise<ActionResult<RotatedEndpointSecret>> {
  const signingSecret = newSigningSecret();
  const secret = sealSecret(deps.secretsKey(), 'endpoint_secrets', signingSecret);
  return runAction(
    deps,
    async (client) => {
      const endpoint = await takeEndpoint(client, endpointId);
      if (endpoint.kind === 'refused') return endpoint;
      const { projectId } = endpoint.value;
      const { overlapEndsAt } = await queries.rotateEndpointSecret(client, { endpointId, secret, overlapMs });
      await recordChange(client, deps.actor, {
        action: 'endpoint.rotate_secret',
        projectId,
        target: endpointId,
        before: null,
        after: { secretId: secret.id, overlapEndsAt },
      });
      return done({ projectId, signingSecret, overlapEndsAt });
    },
    ({ projectId }) => projectId,
  );
}
