import { leaveLiveWorkers } from '@hqrelay/cache/fleet/live-workers';
import { followProjectChanges } from '@hqrelay/cache/project-config';
import type { ProjectDirectory } from '@hqrelay/projects/project-directory';
import type { Fleet } from '../jobs/count-workers.ts';
import type { Part } from './part.ts';
import type { Stores } from './stores.ts';

/** Connects the stores and follows changes of projects; closes them after the last audit row is stored. */
export function storesPart(
  { postgres, cache, publishing, recorder }: Stores,
  { directory, fleet }: { directory: ProjectDirectory; fleet: Fleet },
): Part {
  let subscriber: ReturnType<typeof cache.createSubscriber> | undefined;
  return {
    name: 'stores',
    start: () => {
      subscriber = cache.createSubscriber();
      followProjectChanges(subscriber, (projectId) => directory.forget(projectId));
      cache.start();
      publishing.start();
      void postgres.start();
    },
    stop: async () => {
      await recorder.close();
      subscriber?.disconnect();
      await cache.tryCommand((redis) => leaveLiveWorkers(redis, fleet.workerId));
      await Promise.all([publishing.stop(), cache.close(), postgres.close()]);
    },
  };
}
