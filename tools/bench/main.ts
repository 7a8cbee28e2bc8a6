// `npm run bench` measures the product on this machine, beside a bare pipeline with the same effects and none of its code.
import { parseArgs } from 'node:util';
import { withDurableServices, type DurableServices } from '../harness/durable-services.ts';
import { replaceTable } from '../harness/replace-table.ts';
import { markdownTable, plainTable } from '../harness/table.ts';
import { startGenerator, startSink } from './children.ts';
import { measureDashboards } from './dashboards/main.ts';
import { measureIsolation } from './isolation/main.ts';
import { listCells, measureLists } from './lists/main.ts';
import { withListServer } from './lists/list-server.ts';
import { measureOracle } from './oracle/main.ts';
import { measureOrder } from './order/main.ts';
import { measureProfiles, type ProfileLine } from './profile/main.ts';
import { flatPostgresSettings, measureFlat } from './flat/main.ts';
import { measurePairs } from './pairs/main.ts';
import { measureLargeBodies } from './rates/large-bodies.ts';
import type { RateLine } from './rates/site.ts';
import { measureSpike } from './rates/spike.ts';
import { measureSustained } from './rates/sustained.ts';
import { writeReport, writeResults } from './report/write-report.ts';
import { measureScrapes } from './scrape/main.ts';
import { measureThroughput } from './throughput.ts';
import { measureTracing } from './tracing/main.ts';
import { cellsOf, summarize, textOf } from './summary.ts';

const usage = `npm run bench -- [options]

  --bodies       sends bodies of 1 MiB, a hundred at once, instead of measuring throughput
  --flat         compares the product in an empty system with the same in a full one, with 5 million rows in each audit
                 table, 500,000 waiting webhooks, 1,000 projects and 5,000 endpoints; --rows N takes another number than
                 5 million, and --keep FOLDER leaves the filled tables in a folder, where the next run finds them
  --isolation    measures the effect of hanging endpoints, storms and backlogs on other endpoints, instead of throughput
  --oracle       compares the times of refused requests for unknown, disabled and real projects, instead of throughput
  --dashboards   measures the SQL of the panels over a million webhooks, instead of throughput
  --lists        measures lists, searches and statistics on 5 million webhooks and on 5,000, and prints their plans, in
                 about ten minutes; --webhooks N takes another number than 5 million, and --keep FOLDER leaves the
                 filled tables in a folder, where the next run finds them
  --scrape       measures how long a scrape of the metrics takes, with and without load, instead of throughput
  --order        compares an ordered endpoint over ten thousand keys with an unordered one, and with one that has seen a
                 million keys and has 100,000 webhooks waiting behind one, instead of throughput
  --pairs        compares one receiver and one worker with two of each, instead of measuring throughput
  --profile      shows by CPU profiles where the processes of both pipelines spend their time, instead of throughput
  --spike        sends a hundred times the normal rate for a minute, instead of measuring throughput
  --sustained    sends 1,000 webhooks a second for five minutes, instead of measuring throughput
  --tracing      compares the product with and without traces, instead of throughput
  --only A,B     runs these scenarios of --isolation, or queries of --lists, alone
  --drain        measures draining alone, from a backlog that no receiver has accepted, in five short rounds
  --quick        runs one short round, which shows whether it works, not how fast
  --write        replaces the table in docs/performance.md; that of throughput with the chart and docs/capacity.md
`;

const { values } = parseArgs({
  options: {
    bodies: { type: 'boolean', default: false },
    dashboards: { type: 'boolean', default: false },
    flat: { type: 'boolean', default: false },
    pairs: { type: 'boolean', default: false },
    rows: { type: 'string' },
    isolation: { type: 'boolean', default: false },
    oracle: { type: 'boolean', default: false },
    scrape: { type: 'boolean', default: false },
    order: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    spike: { type: 'boolean', default: false },
    sustained: { type: 'boolean', default: false },
    tracing: { type: 'boolean', default: false },
    lists: { type: 'boolean', default: false },
    webhooks: { type: 'string', default: '5000000' },
    keep: { type: 'string' },
    only: { type: 'string', default: '' },
    drain: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const plan = values.quick
  ? { rounds: 1, warmUpSeconds: 2, seconds: 3, connections: 64, backlog: 10_000 }
  : { rounds: 5, warmUpSeconds: 12, seconds: 8, connections: 64, backlog: 60_000 };
const say = (line: string) => process.stderr.write(`${line}\n`);

if (values.help) process.stdout.write(usage);
else if (values.lists) await withListServer({ say, folder: values.keep }, lists);
else if (values.flat)
  await withDurableServices({ say, postgresSettings: flatPostgresSettings }, rates('flat', flat));
else await withDurableServices({ say }, modeOf(values));

function modeOf(wanted: typeof values): (services: DurableServices) => Promise<void> {
  const modes = {
    bodies: rates('bodies', measureLargeBodies),
    dashboards,
    isolation,
    oracle,
    order,
    pairs: rates('pairs', measurePairs),
    profile,
    scrape,
    spike: rates('spike', measureSpike),
    sustained: rates('sustained', measureSustained),
    tracing,
  };
  const [mode] = Object.entries(modes).filter(([name]) => wanted[name as keyof typeof modes]);
  return mode?.[1] ?? throughput;
}

/** Prints a table, and with `--write` puts it into a page. */
async function showTable(page: string, name: string, cells: readonly (readonly string[])[]): Promise<void> {
  process.stdout.write(`\n${plainTable(cells)}\n`);
  if (values.write) await replaceTable(page, name, markdownTable(cells));
}

async function dashboards(services: DurableServices): Promise<void> {
  const lines = await measureDashboards(services, { quick: values.quick, say });
  const cells = lines.map(({ panel, period, medianMs, maxMs, months }) => [
    panel,
    period,
    medianMs.toFixed(0),
    maxMs.toFixed(0),
    months.join(', '),
  ]);
  const head = ['panel', 'period', 'median ms', 'slowest of 5, ms', 'months read'];
  await showTable('docs/performance.md', 'dashboards', [head, ...cells]);
  const unpruned = lines.filter(({ isPruned }) => !isPruned);
  for (const { panel, period } of unpruned)
    say(`${panel} over ${period} reads partitions of other months or none`);
  if (unpruned.length > 0) process.exitCode = 1;
}

async function lists(serverUrl: string): Promise<void> {
  const webhooks = Number(values.webhooks);
  const only = values.only.split(',').filter((name) => name !== '');
  const lines = await measureLists(serverUrl, { webhooks, only, say });
  for (const { name, plans } of lines) process.stdout.write(`\n## ${name}\n\n${plans.join('\n\n')}\n`);
  await showTable('docs/performance.md', 'lists', listCells(lines, webhooks));
  if (lines.some(({ holds }) => !holds)) process.exitCode = 1;
}

async function isolation(services: DurableServices): Promise<void> {
  const only = values.only.split(',').filter((name) => name !== '');
  const lines = await measureIsolation(services, { only, quick: values.quick, say });
  const cells = [
    ['what happens', 'figure', 'measured', 'bound', 'holds'],
    ...lines.map(({ scenario, figure, value, bound, holds }) => [
      scenario,
      figure,
      value,
      bound,
      holds ? 'yes' : 'NO',
    ]),
  ];
  await showTable('docs/performance.md', 'isolation', cells);
  if (lines.some(({ holds }) => !holds)) process.exitCode = 1;
}

async function oracle(services: DurableServices): Promise<void> {
  const lines = await measureOracle(services, say);
  const cells = [
    ['refused request', 'body KiB', 'median ms', 'from unknown, ms'],
    ...lines.map(({ name, bodyBytes, medianMs, differenceMs }) => [
      name,
      String(bodyBytes / 1_024),
      medianMs.toFixed(2),
      differenceMs.toFixed(2),
    ]),
  ];
  await showTable('docs/security.md', 'oracle', cells);
}

async function scrape(services: DurableServices): Promise<void> {
  const lines = await measureScrapes(services, { quick: values.quick, say });
  const cells = lines.map(({ app, load, cpuMs, medianMs, p95Ms, bytes }) => [
    app,
    load,
    cpuMs.toFixed(1),
    medianMs.toFixed(1),
    p95Ms.toFixed(1),
    (bytes / 1_024).toFixed(1),
  ]);
  const head = ['scrape of', 'load', 'CPU ms', 'median ms', 'p95 ms', 'KiB'];
  await showTable('docs/performance.md', 'scrape', [head, ...cells]);
}

async function order(services: DurableServices): Promise<void> {
  const lines = await measureOrder(services, { quick: values.quick, say });
  const cells = lines.map(({ figure, unordered, ordered, crowded, orderedToUnordered, crowdedToOrdered }) => [
    figure,
    ...[unordered, ordered, crowded].map(textOf),
    orderedToUnordered.toFixed(2),
    crowdedToOrdered.toFixed(2),
  ]);
  const head = ['figure', 'unordered', 'ordered', 'crowded', 'ordered / unordered', 'crowded / ordered'];
  await showTable('docs/performance.md', 'order', [head, ...cells]);
  const both = lines.find(({ figure }) => figure === 'both/s')!;
  if (both.orderedToUnordered < 0.5 || both.crowdedToOrdered < 0.7) process.exitCode = 1;
}

async function profile(services: DurableServices): Promise<void> {
  const { areas, functions } = await measureProfiles(services);
  const head = ['process', 'µs of self time for each webhook', 'product', 'bare'];
  const cells = (lines: readonly ProfileLine[]) =>
    lines.map(({ app, name, product, bare }) => [app, name, product.toFixed(1), bare.toFixed(1)]);
  process.stdout.write(`\n${plainTable([head, ...cells(functions)])}\n`);
  await showTable('docs/performance.md', 'profile', [head, ...cells(areas)]);
}

/** Two systems of one run, the second with millions of rows. */
function flat(services: DurableServices, options: { quick: boolean; say: typeof say }): Promise<RateLine[]> {
  const rows = Number(values.rows ?? (options.quick ? 100_000 : 5_000_000));
  return measureFlat(services, { ...options, rows, folder: values.keep });
}

function rates(
  name: string,
  measure: (services: DurableServices, options: { quick: boolean; say: typeof say }) => Promise<RateLine[]>,
): (services: DurableServices) => Promise<void> {
  return async (services) => {
    const lines = await measure(services, { quick: values.quick, say });
    const cells = lines.map(({ figure, value, bound, holds }) => [
      figure,
      value,
      bound,
      holds ? 'yes' : 'NO',
    ]);
    await showTable('docs/performance.md', name, [['figure', 'measured', 'bound', 'holds'], ...cells]);
    if (lines.some(({ holds }) => !holds)) process.exitCode = 1;
  };
}

async function tracing(services: DurableServices): Promise<void> {
  const lines = await measureTracing(services, { quick: values.quick, say });
  const cells = lines.map(({ figure, off, onToOff, offToOff }) => [
    figure,
    textOf(off),
    offToOff.toFixed(2),
    onToOff.toFixed(2),
  ]);
  const head = ['figure', 'without traces', 'without again / without', 'with / without'];
  await showTable('docs/performance.md', 'tracing', [head, ...cells]);
}

async function throughput(services: DurableServices): Promise<void> {
  const sink = await startSink();
  const generator = startGenerator();
  const drainOnly = values.drain ? plan.backlog : undefined;
  try {
    const figures = summarize(
      await measureThroughput({ services, sink, generator, ...plan, drainOnly, say }),
    );
    process.stdout.write(`\n${plainTable(cellsOf(figures))}\n`);
    if (!values.quick && !values.drain) say(`Written to ${await writeResults(plan, figures)}`);
    if (values.write && !values.drain) await writeReport(figures);
  } finally {
    sink.end();
    generator.end();
  }
}
