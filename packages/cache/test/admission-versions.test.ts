import { describe, expect, it } from 'vitest';
import { openAdmission } from './admission-world.ts';
import { previousVersion } from './previous-version.ts';

const { cache, request, reserve, accept, release } = openAdmission();

describe('receivers of this version and of the previous one, on one Redis', () => {
  const thisVersion = {
    async reserve(asked: ReturnType<typeof request>) {
      const { held, isMine } = await reserve(asked);
      const kind = isMine ? 'admitted' : held.state === 'accepted' ? 'seen' : 'pending';
      return { kind, id: held.id };
    },
    accept: (asked: ReturnType<typeof request>) => accept(asked),
    release: (asked: ReturnType<typeof request>) => release(asked),
  };
  const versionBefore = {
    reserve: (asked: ReturnType<typeof request>) => previousVersion.reserve(cache.redis, asked),
    accept: (asked: ReturnType<typeof request>) => previousVersion.accept(cache.redis, asked),
    release: (asked: ReturnType<typeof request>) => previousVersion.release(cache.redis, asked),
  };

  it.each([
    ['a receiver of the previous version reads the keys of this version', thisVersion, versionBefore],
    ['a receiver of this version reads the keys of the previous version', versionBefore, thisVersion],
  ])('%s', async (_title, writer, reader) => {
    const accepted = request({ webhookId: 'accepted' });
    await writer.reserve(accepted);
    expect(await reader.reserve(request({ webhookId: 'accepted' }))).toEqual({
      kind: 'pending',
      id: accepted.id,
    });
    await writer.accept(accepted);
    expect(await reader.reserve(request({ webhookId: 'accepted' }))).toEqual({
      kind: 'seen',
      id: accepted.id,
    });

    const released = request({ webhookId: 'released' });
    await writer.reserve(released);
    await writer.release(released);
    const retry = request({ webhookId: 'released' });
    expect(await reader.reserve(retry)).toEqual({ kind: 'admitted', id: released.id });
    // The late release of the first request leaves the reservation of the reader alone.
    await writer.release(released);
    expect(await writer.reserve(request({ webhookId: 'released' }))).toMatchObject({ kind: 'pending' });
    await reader.accept({ ...retry, id: released.id });
    expect(await writer.reserve(request({ webhookId: 'released' }))).toEqual({
      kind: 'seen',
      id: released.id,
    });
  });
});
