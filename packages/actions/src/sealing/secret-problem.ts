import type { Preset } from '@hqrelay/domain/providers/preset';
import { projectScheme } from '@hqrelay/domain/providers/scheme';
import { decodeHmacKey, decodePublicKey } from '@hqrelay/domain/providers/signature/decode-key';

/** Why a secret cannot verify anything of the provider; undefined when it can. The message never repeats it. */
export function secretProblem(preset: Preset, scheme: unknown, secret: string): string | undefined {
  const own = projectScheme.safeParse(scheme);
  const schemes = own.success ? [own.data] : preset.schemes;
  const isUsable = schemes.some((each) => {
    if (each.kind === 'hmac') return decodeHmacKey(each, secret) !== undefined;
    if (each.kind === 'basic') return secret.includes(':');
    return 'signature' in each ? decodePublicKey(each.kind, secret) !== undefined : true;
  });
  return isUsable
    ? undefined
    : `the secret does not have the form that ${preset.title} uses: ${preset.secret.what}`;
}
