import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import { findRetiredSecrets } from '@hqrelay/db/queries/retired-secrets';
import { readWebhookPayload, type WebhookDetails } from '@hqrelay/db/queries/webhooks';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { providerOf } from '@hqrelay/domain/providers/provider-of';
import { headerLookupOf } from '@hqrelay/domain/providers/request/header-lookup';
import { viewOf } from '@hqrelay/domain/providers/request/request-view';
import { verifyRequest } from '@hqrelay/domain/providers/signature/verify-request';
import { open, parseSecretKeys, SecretUnreadable, type SecretKeys } from '@hqrelay/domain/secrets/secret-box';
import type pg from 'pg';

type Deps = { pool: pg.Pool; secretsKey: string; webhookBaseUrl: string };

/**
 * The id of the project's secret that the stored request is signed with: the receiver stores no secret with a webhook, so the
 * signature is verified again, as of the time of its receipt. Null where the request is not stored, where its credential was
 * taken off on receipt, or where its secret has been deleted or the provider changed since.
 */
export async function findVerifyingSecret(
  { pool, secretsKey, webhookBaseUrl }: Deps,
  { webhook, payload }: Pick<WebhookDetails, 'webhook' | 'payload'>,
): Promise<string | null> {
  const { id, projectId, receivedAt, status } = webhook;
  if (payload === null || status === 'rejected') return null;
  const [project, stored] = await Promise.all([
    readProjectConfig(pool, projectId),
    readWebhookPayload(pool, { id, receivedAt: receivedAt.getTime() }),
  ]);
  if (!project || stored === null) return null;
  const keys = parseSecretKeys(secretsKey);
  const sealed = [...project.secrets, ...(await findRetiredSecrets(pool, [projectId]))];
  const secrets = sealed.flatMap((secret) => {
    const key = openOrNull(keys, secret, `project_secrets:${secret.id}`);
    return key === null ? [] : [{ id: secret.id, key }];
  });
  const { headers, query } = payload;
  const url = `${webhookBaseUrl}/v1/webhooks/${projectId}${query === '' ? '' : `?${query}`}`;
  const view = viewOf({ method: 'POST', url, query, headers: headerLookupOf(headers), body: stored.bytes });
  const check = verifyRequest(
    providerOf(project).schemes,
    { secrets, settings: settingsOf(keys, project) },
    view,
    receivedAt.getTime(),
  );
  return check.kind === 'verified' ? check.secretId : null;
}

function settingsOf(
  keys: SecretKeys,
  { id, sealedSettings: sealed, settingsKeyId: keyId }: ProjectConfig,
): Readonly<Record<string, string>> {
  if (sealed === null || keyId === null) return {};
  const text = openOrNull(keys, { sealed, keyId }, `projects.settings:${id}`);
  return text === null ? {} : (JSON.parse(text) as Record<string, string>);
}

/** Null for a secret of a key that this console does not have. */
function openOrNull(keys: SecretKeys, box: { sealed: string; keyId: string }, row: string): string | null {
  try {
    return open(keys, box, row);
  } catch (error) {
    if (error instanceof SecretUnreadable) return null;
    throw error;
  }
}
