import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Load } from '../../harness/load.ts';
import type { Fault, Row } from '../row.ts';
import type { Site } from '../site.ts';
import { balance, type Books, type BooksInput } from './books.ts';
import { figuresOf, type Figures } from './figures.ts';
import { evidenceOf, judge, type Outcome } from './judge.ts';
import { readLedger } from './ledger.ts';
import { queuesOfLater, readRemains, type Remains } from './remains.ts';

export type RowResult = Books &
  Figures & {
    row: Row;
    unavailable: number;
    reset: number;
    refused: number;
    /** The work in flight that the fault hit. */
    hit: string;
    tookMs: number;
    outcome: Outcome;
    logFolder: string;
  };

/** A row whose apps have ended. */
export type EndedRow = {
  row: Row;
  brief: boolean;
  site: Site;
  load: Load;
  faults: readonly Fault[];
  /** Problems found while it ran. */
  reasons: readonly string[];
  startedAt: number;
  logFolder: string;
  /** Webhooks without a 202, where not everything was drained. */
  notAccepted: number | undefined;
};

/** Within this time the broker requeues the messages of a stopped worker. */
const requeueMs = 1_500;

/** Reads the books of a row and judges it. */
export async function conclude(ended: EndedRow): Promise<RowResult> {
  const { row, brief, site, load, faults, logFolder } = ended;
  // With --keep-logs an engineer can see which answers were slow, and when.
  writeFileSync(join(logFolder, 'answers.json'), JSON.stringify({ faults, answers: load.answers }));
  if (ended.notAccepted !== undefined) await wait(requeueMs);
  // A row that failed may have left a server stopped, and reading the books needs all servers.
  await site.services.restore();
  const input = await readBooks(ended);
  const books = balance(input);
  const figures = figuresOf({ ...input, answers: load.answers });
  const evidence = evidenceOf(load, faults, site, books.duplicates);
  const hit = row.hit(evidence);
  const reasons = [...ended.reasons, ...notDrained(ended, input.remains)];
  const { unavailable, reset, refused } = evidence;
  return {
    ...books,
    ...figures,
    row,
    unavailable,
    reset,
    refused,
    hit: hit ?? 'nothing',
    tookMs: performance.now() - ended.startedAt,
    logFolder,
    outcome: judge({ row, brief, answers: load.answers, faults, books, figures, evidence, hit, reasons }),
  };
}

async function readBooks({ row, site, load, faults }: EndedRow): Promise<BooksInput> {
  const remains = await readRemains(site.world);
  return {
    webhooks: load.webhooks,
    owedBy: new Map(site.projects.map((project) => [project.id, project.endpointIds])),
    endpoints: site.endpoints,
    faults,
    ledger: await readLedger(site.world, remains.spilled),
    remains,
    duplicatesBecause: row.duplicatesBecause,
  };
}

function notDrained({ notAccepted }: EndedRow, remains: Remains): string[] {
  const left = [...remains.places].filter(([place]) => !queuesOfLater.includes(place));
  if (notAccepted === undefined || notAccepted + left.length === 0) return [];
  const places = left.map(([place, count]) => `, ${count} in ${place}`).join('');
  return [`not drained when time was up: ${notAccepted} not answered 202${places}`];
}
