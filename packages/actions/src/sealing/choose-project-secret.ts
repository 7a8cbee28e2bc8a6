import { randomBytes } from 'node:crypto';
import { done, refused, type Done, type Refusal } from '../action.ts';

/** A secret that the sender of a project signs with, chosen by a person or a provider. */
export type GivenSecret = { value: string; allowShort: boolean };

/** A shorter one can be guessed from one signed request. */
const bytesMin = 16;

/**
 * The secret that a project gets: the given one, or 32 random bytes in hex. A short one is refused for a generic project.
 * Providers choose their own secrets, some of them short: that is a warning.
 */
export function chooseProjectSecret(
  provider: string,
  given: GivenSecret | undefined,
): Done<string> | Refusal {
  if (!given) return done(randomBytes(32).toString('hex'));
  const bytes = Buffer.byteLength(given.value);
  if (bytes >= bytesMin || given.allowShort) return done(given.value);
  if (provider === 'generic') {
    return refused(
      'secret.too_short',
      `the secret has ${bytes} bytes and can be guessed: a generic project's secret has at least ${bytesMin}`,
    );
  }
  const warning = `the secret has ${bytes} bytes only: check that it is the whole secret of the provider`;
  return done(given.value, [warning]);
}
