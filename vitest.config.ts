import { defineConfig } from 'vitest/config';

// No 'import' among them: they reach require() too.
const conditions = ['@hqrelay/source', 'node'];
// Projects do not inherit these, and the global setup runs in an environment of its own.
const source = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  environments: { __vitest__: { resolve: { conditions } } },
};

// A test that hangs fails at these limits. None of them is a promise about speed: a busy machine may be ten times slower.
const patience = {
  expect: { poll: { timeout: 120_000, interval: 25 } },
  testTimeout: 600_000,
  hookTimeout: 600_000,
  teardownTimeout: 120_000,
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
    teardownTimeout: patience.teardownTimeout,
    // Some packages of providers write to stdout.
    silent: 'passed-only',
    projects: [
      {
        ...source,
        test: {
          ...patience,
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
          ...patience,
          name: 'services',
          include: withServices,
          globalSetup: ['packages/testing/src/global-setup.ts'],
        },
      },
    ],
  },
});
