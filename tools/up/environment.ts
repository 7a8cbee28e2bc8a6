import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** As given, and unset otherwise. */
const passedOn = ['PUBLIC_URL', 'RECEIVER_DATABASE_URL', 'WORKER_DATABASE_URL', 'CONSOLE_DATABASE_URL'];

/**
 * What the apps and the command line tool run with here: the services that were found, and for the rest what the
 * environment says. Written to `file`, from which `npm run hqrelay` and `npm run migrate` read it.
 */
export function writeEnvironment(
  file: string,
  given: Readonly<Record<string, string | undefined>>,
  urls: Readonly<Record<string, string>>,
): Record<string, string> {
  const before = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const env: Record<string, string> = {
    ...urls,
    // Another key could not read the secrets in the database any more.
    HQRELAY_SECRETS_KEY:
      given['HQRELAY_SECRETS_KEY'] ?? before['HQRELAY_SECRETS_KEY'] ?? randomBytes(32).toString('base64'),
    RECEIVER_PORT: given['RECEIVER_PORT'] ?? '3000',
    WORKER_PORT: given['WORKER_PORT'] ?? '3001',
    // The demo endpoint is on this machine.
    ALLOW_PRIVATE_ENDPOINTS: given['ALLOW_PRIVATE_ENDPOINTS'] ?? 'true',
    ...Object.fromEntries(
      passedOn.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    ),
  };
  const lines = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const header =
    '# Written by npm run up, for npm run hqrelay and npm run migrate. The environment and .env come first.';
  writeFileSync(file, `${[header, ...lines].join('\n')}\n`, { mode: 0o600 });
  return env;
}
