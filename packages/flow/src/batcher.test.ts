import { describe, expect, it } from 'vitest';
import { Batcher } from './batcher.ts';

function recordingBatcher(options: { itemsMax?: number; bytesMax?: number; bytesWaitingMax?: number } = {}) {
  const batches: string[][] = [];
  const releases: (() => void)[] = [];
  const batcher = new Batcher<string, string>({
    itemsMax: 3,
    bytesMax: 100,
    batchesAtOnce: 1,
    bytesWaitingMax: 1_000,
    bytesOf: (item) => item.length,
    run: async (items) => {
      batches.push([...items]);
      await new Promise<void>((resolve) => releases.push(resolve));
      return items.map((item) => `${item} done`);
    },
    ...options,
  });
  return { batcher, batches, release: () => releases.shift()?.() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a batcher', () => {
  it('items of one turn of the event loop share a batch, and each gets its own outcome', async () => {
    const { batcher, batches, release } = recordingBatcher();
    const outcomes = Promise.all([batcher.add('a'), batcher.add('b')]);
    await turn();
    release();
    expect(await outcomes).toEqual(['a done', 'b done']);
    expect(batches).toEqual([['a', 'b']]);
  });

  it('items that are added while a batch runs form the next one, up to its bound', async () => {
    const { batcher, batches, release } = recordingBatcher();
    const all = ['a', 'b', 'c', 'd', 'e'].map((item) => batcher.add(item));
    await turn();
    expect(batches).toEqual([['a', 'b', 'c']]);
    release();
    await all[0];
    await turn();
    expect(batches).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    release();
    expect(await all[4]).toBe('e done');
  });

  it('a batch ends at its bound of bytes, which a single item may exceed', async () => {
    const { batcher, batches, release } = recordingBatcher({ bytesMax: 4 });
    const all = ['aaaaaaaa', 'bb', 'cc', 'd'].map((item) => batcher.add(item));
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await turn();
      release();
      await turn();
    }
    await Promise.all(all);
    expect(batches).toEqual([['aaaaaaaa'], ['bb', 'cc'], ['d']]);
  });

  it('an item is refused at once when too many bytes wait', async () => {
    const { batcher, release } = recordingBatcher({ bytesWaitingMax: 5 });
    const first = batcher.add('aaaa');
    expect(await batcher.add('bb')).toBeUndefined();
    await turn();
    release();
    expect(await first).toBe('aaaa done');
  });

  it('an error of a batch rejects each of its items, and the next batch runs', async () => {
    let tries = 0;
    const batcher = new Batcher<string, string>({
      itemsMax: 3,
      bytesMax: 100,
      batchesAtOnce: 1,
      bytesWaitingMax: 1_000,
      bytesOf: () => 1,
      run: async (items) => {
        if ((tries += 1) === 1) throw new Error('refused');
        return items;
      },
    });
    const outcomes = await Promise.allSettled([batcher.add('a'), batcher.add('b')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await batcher.add('c')).toBe('c');
  });

  it('the batcher is idle when no item waits and no batch runs', async () => {
    const { batcher, release } = recordingBatcher();
    await batcher.idle();
    const added = batcher.add('a');
    let isIdle = false;
    const idle = batcher.idle().then(() => (isIdle = true));
    await turn();
    expect(isIdle).toBe(false);
    release();
    await Promise.all([added, idle]);
    expect(isIdle).toBe(true);
  });
});
