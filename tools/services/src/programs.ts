import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The path of a server's program: in the folder of HQRELAY_SERVERS_DIR, or else where the system's packages install it. */
export function findProgram(name: string, installed: () => string | undefined): string | undefined {
  const folder = serversFolder();
  if (folder === undefined) return installed();
  const path = join(folder, name);
  if (!existsSync(path)) throw new Error(`HQRELAY_SERVERS_DIR is ${folder}, which has no ${name}.`);
  return path;
}

/** The folder of HQRELAY_SERVERS_DIR. Throws when the variable names none. */
export function serversFolder(): string | undefined {
  const folder = process.env['HQRELAY_SERVERS_DIR'];
  if (folder === undefined) return undefined;
  if (folder.trim() === '' || !existsSync(folder)) {
    throw new Error(
      `HQRELAY_SERVERS_DIR is "${folder}", which is not a folder: unset it, or name one with the servers' programs.`,
    );
  }
  return resolve(folder);
}
