import { insertEndpoint, type Endpoint, type EndpointSettings } from '@hqrelay/db/queries/endpoints';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { newId } from '@hqrelay/domain/ids';
import { done, runAction, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { sealSecret } from '../sealing/seal-secret.ts';
import { sealSettings, type SecretSettings } from '../sealing/seal-settings.ts';
import { takeProject } from '../take-project.ts';
import type { CheckedSettings } from './check-settings.ts';

export type NewEndpoint = SecretSettings &
  Pick<
    EndpointSettings,
    | 'url'
    | 'eventTypes'
    | 'retrySchedule'
    | 'timeoutMs'
    | 'orderingKey'
    | 'onDeadLetter'
    | 'forwardCredentials'
    | 'caCertificates'
  >;

/** The caller gets the signing secret this once. */
export type AddedEndpoint = { endpoint: Endpoint; signingSecret: string };

const nothingSealed = {
  sealedHeaders: null,
  headersKeyId: null,
  sealedClientCertificate: null,
  clientCertificateKeyId: null,
};

/** Adds an endpoint to a project, with the secret that its deliveries are signed with. */
export async function addEndpoint(
  deps: SealingDeps,
  projectId: string,
  { fixedHeaders, clientCertificate, ...settings }: CheckedSettings<NewEndpoint>,
): Promise<ActionResult<AddedEndpoint>> {
  const id = newId(Date.now());
  const signingSecret = newSigningSecret();
  const secret = sealSecret(deps.secretsKey(), 'endpoint_secrets', signingSecret);
  const sealed = sealSettings(deps.secretsKey, id, { fixedHeaders, clientCertificate });
  return runAction(
    deps,
    async (client) => {
      const project = await takeProject(client, projectId);
      if (project.kind === 'refused') return project;
      const endpoint = await insertEndpoint(client, {
        id,
        projectId,
        settings: { ...settings, ...nothingSealed, ...sealed },
        secret,
      });
      await recordChange(client, deps.actor, {
        action: 'endpoint.add',
        projectId,
        target: id,
        before: null,
        after: endpoint,
      });
      return done({ endpoint, signingSecret });
    },
    () => projectId,
  );
}
