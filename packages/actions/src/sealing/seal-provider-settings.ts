import type { SealedProviderSettings } from '@hqrelay/db/queries/projects';
import { parseSecretKeys, seal } from '@hqrelay/domain/secrets/secret-box';

/** The columns of a project's provider settings, sealed and bound to its row; null when there are none. */
export function sealProviderSettings(
  secretsKey: string,
  projectId: string,
  settings: Readonly<Record<string, string>>,
): SealedProviderSettings {
  if (Object.keys(settings).length === 0) return { sealedSettings: null, settingsKeyId: null };
  const { sealed, keyId } = seal(
    parseSecretKeys(secretsKey),
    JSON.stringify(settings),
    `projects.settings:${projectId}`,
  );
  return { sealedSettings: sealed, settingsKeyId: keyId };
}
