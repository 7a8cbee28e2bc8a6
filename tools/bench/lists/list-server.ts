import { resolve } from 'node:path';
import { startPrivateServers } from '@hqrelay/services/private-services';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';

/** For loading; the tables fit into memory, as on a machine for so many webhooks. */
const postgresSettings = [
  'shared_buffers=2GB',
  'max_wal_size=16GB',
  'maintenance_work_mem=512MB',
  'autovacuum=off',
];

/** Runs `work` with the URL of a private, durable Postgres in the folder, or in one that is removed afterwards. */
export async function withListServer(
  { say, folder }: { say: (line: string) => void; folder: string | undefined },
  work: (serverUrl: string) => Promise<void>,
): Promise<void> {
  const dir = folder === undefined ? makeThrowAwayFolder('hqrelay-lists-') : resolve(folder);
  const { postgres } = await startPrivateServers(['postgres'], { dir, durable: true, say, postgresSettings });
  try {
    await work(postgres.url);
  } finally {
    await postgres.stop();
    if (folder === undefined) removeThrowAwayFolder(dir);
  }
}
