import { randomBytes } from 'node:crypto';
import type { Preset } from '@hqrelay/domain/providers/preset';
import { done, refused, type Done, type Refusal } from '../action.ts';
import { secretProblem } from './secret-problem.ts';

/** A secret that the sender of a project signs with, chosen by a person or a provider. */
export type GivenSecret = { value: string; allowShort: boolean };

/** A shorter one can be guessed from one signed request. */
const bytesMin = 16;

/**
 * The secret that a project gets: the given one, or 32 random bytes in hex. A short one is refused where people choose it.
 * Providers choose their own secrets, some of them short: that is a warning.
 */
export function chooseProjectSecret(
  preset: Preset,
  scheme: unknown,
  given: GivenSecret | undefined,
): Done<string> | Refusal {
  if (!given) return chooseFor(preset);
  const problem = secretProblem(preset, scheme, given.value);
  if (problem !== undefined) return refused('secret.invalid_form', problem);
  const bytes = Buffer.byteLength(given.value);
  if (bytes >= bytesMin || given.allowShort) return done(given.value);
  if (preset.secret.from === 'relay') {
    return refused(
      'secret.too_short',
      `the secret has ${bytes} bytes and can be guessed: it has at least ${bytesMin} where people choose it`,
    );
  }
  const warning = `the secret has ${bytes} bytes only: check that it is the whole secret of the provider`;
  return done(given.value, [warning]);
}

function chooseFor(preset: Preset): Done<string> {
  const secret = done(randomBytes(32).toString('hex'));
  if (preset.secret.from === 'relay') return secret;
  const warning =
    `${preset.title} makes the secret itself (${preset.secret.what}): until hqrelay secret rotate gives it to this project, ` +
    'its webhooks are refused';
  return done(secret.value, [warning]);
}
