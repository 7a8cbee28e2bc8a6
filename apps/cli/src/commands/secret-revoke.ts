import { revokeProjectSecret } from '@hqrelay/actions/secret/revoke-project-secret';
import { changeCommand } from '../change-command.ts';

export const addSecretRevoke = changeCommand({
  verb: 'revoke',
  description: 'stop a secret from verifying, everywhere and for good',
  target: ['<secret-id>', 'the secret, as secret list shows it'],
  action: revokeProjectSecret,
  sentence: (revoked) => `Revoked the secret ${revoked.id}: it verifies nothing any more.`,
});
