import {
  updateEndpoint,
  type Endpoint,
  type EndpointChanges,
  type SealedSettings,
} from '@hqrelay/db/queries/endpoints';
import { cancelReplayJobsOf } from '@hqrelay/db/queries/replay-jobs';
import type pg from 'pg';
import { done, runAction, type ActionDeps, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { replacedSettings, sealSettings, type SecretSettings } from '../sealing/seal-settings.ts';
import { takeEndpoint } from '../take-endpoint.ts';
import type { CheckedSettings } from './check-settings.ts';

export type EndpointVerb = 'update' | 'pause' | 'resume' | 'enable' | 'disable' | 'archive';

type PlainChanges = Omit<EndpointChanges, Exclude<keyof SealedSettings, 'caCertificates'>>;

/** Changes the given settings of an endpoint (at least one) and returns the changed endpoint. */
export async function updateEndpointSettings(
  deps: SealingDeps,
  endpointId: string,
  { fixedHeaders, clientCertificate, ...changes }: CheckedSettings<PlainChanges & SecretSettings>,
): Promise<ActionResult<Endpoint>> {
  const secret = { fixedHeaders, clientCertificate };
  const sealed = sealSettings(deps.secretsKey, endpointId, secret);
  const replaced = replacedSettings(secret);
  return change(deps, endpointId, 'update', { ...changes, ...sealed }, async () =>
    replaced.length > 0 ? { replaced } : {},
  );
}

/** Holds the endpoint's deliveries until it is resumed. */
export function pauseEndpoint(deps: ActionDeps, endpointId: string): Promise<ActionResult<Endpoint>> {
  return change(deps, endpointId, 'pause', { paused: true });
}

/** Ends a pause: held deliveries are released, oldest first, at the release rate, which changes only when it is given. */
export function resumeEndpoint(
  deps: ActionDeps,
  endpointId: string,
  options: { releaseRate?: number | undefined } = {},
): Promise<ActionResult<Endpoint>> {
  return change(deps, endpointId, 'resume', { paused: false, ...releaseRateOf(options) });
}

/** Owes the endpoint webhooks again; held deliveries are released, oldest first. */
export function enableEndpoint(
  deps: ActionDeps,
  endpointId: string,
  options: { releaseRate?: number | undefined } = {},
): Promise<ActionResult<Endpoint>> {
  const enabled = { enabled: true, disabledBy: null, disabledReason: null };
  return change(deps, endpointId, 'enable', { ...enabled, ...releaseRateOf(options) });
}

/** Owes the endpoint no new webhooks, and holds the deliveries that it is owed already. */
export function disableEndpoint(
  deps: ActionDeps,
  endpointId: string,
  reason: string,
): Promise<ActionResult<Endpoint>> {
  return change(deps, endpointId, 'disable', disabledByPerson(reason));
}

/** Disables and hides an endpoint for good: nothing is sent to it any more; what waits is held and stays in the books. */
export function archiveEndpoint(deps: ActionDeps, endpointId: string): Promise<ActionResult<Endpoint>> {
  const changes = { ...disabledByPerson('archived'), archivedAt: new Date() };
  return change(deps, endpointId, 'archive', changes, async (client) => ({
    cancelledJobIds: await cancelReplayJobsOf(client, { endpointId }),
  }));
}

function change(
  deps: ActionDeps,
  endpointId: string,
  verb: EndpointVerb,
  changes: EndpointChanges,
  /** Makes further changes in the same transaction, and returns them for the log. */
  alongside: (client: pg.PoolClient) => Promise<Record<string, unknown>> = async () => ({}),
): Promise<ActionResult<Endpoint>> {
  return runAction(
    deps,
    async (client) => {
      const before = await takeEndpoint(client, endpointId);
      if (before.kind === 'refused') return before;
      const after = (await updateEndpoint(client, endpointId, changes)) as Endpoint;
      await recordChange(client, deps.actor, {
        action: `endpoint.${verb}`,
        projectId: after.projectId,
        target: endpointId,
        before: before.value,
        after,
        more: await alongside(client),
      });
      return done(after);
    },
    ({ projectId }) => projectId,
  );
}

function disabledByPerson(reason: string): EndpointChanges {
  return { enabled: false, disabledBy: 'person', disabledReason: reason };
}

function releaseRateOf({ releaseRate }: { releaseRate?: number | undefined }): EndpointChanges {
  return releaseRate === undefined ? {} : { releaseRate };
}
