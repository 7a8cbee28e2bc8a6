/** Packages and apps, lowest row first: a row imports the rows below it and never a neighbour. */
const rows: readonly (readonly string[])[] = [
  ['domain'],
  ['flow'],
  ['db', 'queue', 'cache', 'runtime'],
  ['audit', 'projects', 'outbound', 'actions', 'insights'],
  ['receiver', 'worker', 'console', 'cli'],
];
const packages = rows.slice(0, -1).flat();

/** The parts that exist for development only, each with what it may import. */
const development: Readonly<Record<string, readonly string[]>> = {
  bootstrap: [],
  structure: [],
  docs: ['domain'],
  services: ['db'],
  testing: [...packages, 'services'],
  'provider-oracles': ['domain'],
  e2e: [...packages, 'services', 'testing'],
  harness: [...packages, 'services', 'testing'],
  up: [...packages, 'services', 'bootstrap', 'cli'],
  chaos: [...packages, 'services', 'testing', 'harness'],
  dashboards: [],
  screenshots: [...packages, 'services', 'testing'],
  bench: [...packages, 'services', 'testing', 'harness'],
};

/** Every test may use these beside what its part may import. */
const forTests = ['services', 'testing'];

/** The app, package or folder of `tools` that a file belongs to; undefined for a file in none, such as `tools/verify.ts`. */
export function partOf(file: string): string | undefined {
  return /^(?:apps|packages|tools)\/([^/]+)\//.exec(file)?.[1];
}

/** The other parts that `part` may import; undefined when the rows above do not name it. */
export function importableBy(part: string, isTest: boolean): readonly string[] | undefined {
  const row = rows.findIndex((names) => names.includes(part));
  const allowed = row === -1 ? development[part] : rows.slice(0, row).flat();
  return allowed && (isTest ? [...allowed, ...forTests] : allowed);
}
