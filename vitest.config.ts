import { defineConfig } from 'vitest/config';

// No 'import' among them: they reach require() too.
const conditions = ['@hqrelay/source', 'node'];
// Projects do not inherit these, and the global setup runs in an environment of its own.
const source = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  environments: { __vitest__: { resolve: { conditions } } },
};

const withServices = [
  'apps/*/test/**/*.test.ts',
  'packages/*/test/**/*.test.ts',
  'tools/services/test/**/*.test.ts',
];

export default defineConfig({
  ...source,
  test: {
    // Two cores: a third file runs while the others wait for a server.
    maxWorkers: 3,
    // Some packages of providers write to stdout.
    silent: 'passed-only',
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'apps/*/{src,web}/**/*.test.ts',
            'tools/*/*.test.ts',
            'tools/services/src/**/*.test.ts',
          ],
        },
      },
      {
        ...source,
        test: {
          name: 'services',
          include: withServices,
          globalSetup: ['packages/testing/src/global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
