import { measureBesideTrouble } from './beside-trouble.ts';
import type { Scenario } from './scenario.ts';
import { createSite } from './site.ts';

const name = 'one of ten endpoints hangs until the timeout';

export const oneHangs: Scenario = {
  name,
  run: (options) =>
    measureBesideTrouble(
      {
        name,
        endpoints: 10,
        healthy: 9,
        createSite: () => createSite({ ...options, targets: 10, workers: 1 }),
        begin: (site) => site.answer({ '/9': 'hang' }),
      },
      options,
    ),
};
