import { describe, expect, it } from 'vitest';
import { OneAtATime } from './one-at-a-time.ts';

describe('one at a time', () => {
  it('begins work under a key when the work before it has ended, and says that it follows', async () => {
    const oneAtATime = new OneAtATime();
    const steps: string[] = [];
    let end = () => {};
    const first = oneAtATime.run('a', async (follows) => {
      steps.push(`first ${follows}`);
      await new Promise<void>((resolve) => (end = resolve));
    });
    const second = oneAtATime.run('a', async (follows) => steps.push(`second ${follows}`));
    const other = oneAtATime.run('b', async (follows) => steps.push(`other ${follows}`));
    await other;
    expect(steps).toEqual(['first false', 'other false']);
    end();
    await Promise.all([first, second]);
    expect(steps).toEqual(['first false', 'other false', 'second true']);
  });

  it('goes on after work that failed, and remembers nothing when all is done', async () => {
    const oneAtATime = new OneAtATime();
    const failed = oneAtATime.run('a', async () => {
      throw new Error('lost');
    });
    const next = oneAtATime.run('a', async () => 'done');
    await expect(failed).rejects.toThrow('lost');
    await expect(next).resolves.toBe('done');
    await expect(oneAtATime.run('a', async (follows) => follows)).resolves.toBe(false);
  });
});
