import type { Row } from './row.ts';

/** Several rows under one load, one after the other. They share the site, the drain and the books, to save time. */
export function together(rows: readonly Row[]): Row {
  const because = rows.flatMap(({ duplicatesBecause }) => duplicatesBecause ?? []);
  const preload = rows.find(({ workerPreload }) => workerPreload !== undefined)?.workerPreload;
  return {
    name: rows.map(({ name }) => name).join('+'),
    fault: rows.map(({ fault }) => fault).join('; then '),
    run: async (site, stage) => {
      for (const row of rows) await row.run(site, stage);
    },
    hit: (evidence) => {
      const hits = rows.map((row) => row.hit(evidence));
      return hits.includes(undefined) ? undefined : hits.join('; ');
    },
    check: (evidence) => rows.flatMap((row) => row.check?.(evidence) ?? []),
    mayRefuse: rows.some(({ mayRefuse }) => mayRefuse),
    ordered: rows.some(({ ordered }) => ordered),
    ownServers: rows.flatMap(({ ownServers }) => ownServers ?? []),
    proxied: rows.flatMap(({ proxied }) => proxied ?? []),
    workersProxied: rows.some(({ workersProxied }) => workersProxied),
    acceptsWithinMs: Math.max(...rows.map(({ acceptsWithinMs }) => acceptsWithinMs ?? 1_000)),
    ...(because.length > 0 && { duplicatesBecause: because.join('; ') }),
    ...(preload !== undefined && { workerPreload: preload }),
  };
}
