import { Batcher } from '@hqrelay/flow/batcher';
import type { Cache } from './client.ts';

/** A script of so many items takes Redis well under a millisecond. */
const itemsMax = 100;
const batchesAtOnce = 2;

/**
 * Runs one command for the items of one turn of the event loop. A command for each would cost this process and Redis several
 * times as much: most of its cost does not depend on what it does. `run` returns outcomes in the order of the items.
 */
export function onceATurn<Item, Outcome>(
  run: (cache: Cache, items: readonly Item[]) => Promise<readonly Outcome[]>,
): (cache: Cache, item: Item) => Promise<Outcome | undefined> {
  const batchers = new WeakMap<Cache, Batcher<Item, Outcome>>();
  return (cache, item) => {
    let batcher = batchers.get(cache);
    if (!batcher) {
      batcher = new Batcher({
        itemsMax,
        batchesAtOnce,
        bytesMax: Number.POSITIVE_INFINITY,
        bytesWaitingMax: Number.POSITIVE_INFINITY,
        bytesOf: () => 0,
        run: (items) => run(cache, items),
      });
      batchers.set(cache, batcher);
    }
    return batcher.add(item);
  };
}
