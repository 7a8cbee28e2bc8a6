import { hostname, userInfo } from 'node:os';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of the process, and the directory that relative file names start from. */
export function readEnvironment(): { env: Environment; directory: string } {
  // npm runs scripts in the root of the repository; INIT_CWD is the directory it was called in.
  return { env: process.env, directory: process.env['INIT_CWD'] ?? process.cwd() };
}

/** The name of the operating system's user who runs this process. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no entry in the list of users.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** `user@host`. */
export function operatorAddress(): string {
  return `${operatorName()}@${hostname()}`;
}

/** The URL that the provider of a project posts to. */
export function webhookUrl(
  config: { publicUrl?: string | undefined; receiverPort: number },
  projectId: string,
): string {
  const base = config.publicUrl ?? `http://127.0.0.1:${config.receiverPort}`;
  return `${base}/v1/webhooks/${projectId}`;
}
