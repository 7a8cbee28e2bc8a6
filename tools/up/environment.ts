import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Variables without a default here. */
const passedOn = [
  'PUBLIC_URL',
  'CONSOLE_URL',
  'CONSOLE_FRAME_ANCESTORS',
  'RECEIVER_DATABASE_URL',
  'WORKER_DATABASE_URL',
  'CONSOLE_DATABASE_URL',
  'DATABASE_READ_URL',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'INSIGHTS_MODEL',
];

/**
 * The environment of the apps and the command line tool: the URLs of the services that were found, and the given variables or
 * their defaults. Writes it to `file`, from which `npm run hqrelay` and `npm run migrate` read it.
 */
export function writeEnvironment(
  file: string,
  given: Readonly<Record<string, string | undefined>>,
  urls: Readonly<Record<string, string>>,
): Record<string, string> {
  const before = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const env: Record<string, string> = {
    ...urls,
    // A new key could not decrypt the secrets that the database already has.
    HQRELAY_SECRETS_KEY:
      given['HQRELAY_SECRETS_KEY'] ?? before['HQRELAY_SECRETS_KEY'] ?? randomBytes(32).toString('base64'),
    RECEIVER_PORT: given['RECEIVER_PORT'] ?? '3000',
    WORKER_PORT: given['WORKER_PORT'] ?? '3001',
    CONSOLE_PORT: given['CONSOLE_PORT'] ?? '3002',
    // The demo endpoint is on this machine.
    ALLOW_PRIVATE_ENDPOINTS: given['ALLOW_PRIVATE_ENDPOINTS'] ?? 'true',
    ...Object.fromEntries(
      passedOn.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    ),
  };
  const lines = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const header =
    '# Written by npm run up, for npm run hqrelay and npm run migrate. The environment and .env take precedence.';
  writeFileSync(file, `${[header, ...lines].join('\n')}\n`, { mode: 0o600 });
  return env;
}
