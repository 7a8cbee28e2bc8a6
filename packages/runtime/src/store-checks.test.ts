import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';
import { StoreChecks, type StoreCheck } from './store-checks.ts';

type Answer = () => string | undefined;

const unavailable: Answer = () => {
  throw new Error('connection refused');
};
const well: Answer = () => undefined;
const wrong: Answer = () => 'evicts keys';

describe('the check of a store', () => {
  let checks: StoreChecks;
  let logged: string[];
  let refused: string[];

  /** Gives the answers in turn, then repeats the last one. Counts the checks. */
  function start(answers: Answer[], options: Partial<StoreCheck> = {}): { asked: () => number } {
    let asked = 0;
    logged = [];
    refused = [];
    checks = new StoreChecks({
      checks: [
        {
          dependency: 'redis',
          run: async () => (answers[Math.min(asked++, answers.length - 1)] as Answer)(),
          ...options,
        },
      ],
      logger: createLogger({ name: 'test', level: 'info' }, { write: (line) => logged.push(line) }),
      refuse: (reason) => refused.push(reason),
      everyMs: 1,
      retryMs: 1,
    });
    checks.start();
    return { asked: () => asked };
  }

  afterEach(() => checks.stop());

  it('the check of a store is repeated until the store answers and after that', async () => {
    const { asked } = start([unavailable, unavailable, well]);
    await waitFor('more checks', () => asked() > 5);
    expect(checks.warnings).toEqual([]);
    expect(logged).toEqual([]);
  });

  it('a misconfigured store has a warning, which is logged once', async () => {
    const { asked } = start([wrong]);
    await waitFor('more checks', () => asked() > 5);
    expect(checks.warnings).toEqual([{ dependency: 'redis', warning: 'evicts keys' }]);
    expect(logged).toEqual([expect.stringMatching(/"warning":"evicts keys".*dependency\.badly_set_up/)]);
    expect(refused).toEqual([]);
  });

  it('the warning of a store stays while the store does not answer, and ends with its misconfiguration', async () => {
    const answers = [wrong, unavailable];
    const { asked } = start(answers);
    await waitFor('more checks', () => asked() > 5);
    expect(checks.warnings).toHaveLength(1);
    answers.push(well);
    await waitFor('the warning to go', () => checks.warnings.length === 0);
    expect(logged.at(-1)).toContain('dependency.set_up_well');
  });

  it('a fatal check of a store refuses the start once', async () => {
    const { asked } = start([unavailable, wrong], { isFatal: true });
    await waitFor('more checks', () => asked() > 5);
    expect(refused).toEqual(['evicts keys']);
  });

  it('a fatal check of a store that passed before only warns', async () => {
    const { asked } = start([well, wrong], { isFatal: true });
    await waitFor('more checks', () => asked() > 5);
    expect(checks.warnings).toHaveLength(1);
    expect(refused).toEqual([]);
  });
});
