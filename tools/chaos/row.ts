import type { ServiceName } from '@hqrelay/services/private-services';
import type { Load } from '../harness/load.ts';
import type { Site } from './site.ts';

/** One line of the failure matrix: a fault, and what must hold in spite of it. */
export type Row = {
  name: string;
  /** The fault in a sentence, for the report. */
  fault: string;
  /** Breaks something under load, and repairs it. */
  run: (site: Site, stage: Stage) => Promise<void>;
  /** Why some deliveries may arrive twice; without it, a duplicate is a defect. */
  duplicatesBecause?: string;
  /** The proof that work was in flight when the fault hit; undefined when there is none. */
  hit: (evidence: Evidence) => string | undefined;
  /** Services that the apps reach through a TCP proxy of the site. */
  proxied?: readonly ServiceName[];
  /** Each worker reaches Postgres through a proxy of its own. */
  workersProxied?: boolean;
  /** Servers of the row's own instead of the run's, for faults that change how a server starts. */
  ownServers?: readonly ServiceName[];
  /** The row starts with the apps and the tables of the previous version, and runs only where `--previous` names it. */
  startsPrevious?: boolean;
  /** A module of `preload/` that workers load first. */
  workerPreload?: string;
  /** False: no delivery uses up its schedule and none is held for the whole row, because that would take longer than the row. */
  everyEnd?: boolean;
  /** One endpoint is ordered, and the order of its arrivals is judged. */
  ordered?: boolean;
  /** New webhooks; 150 when absent. */
  perSecond?: number;
  /** The time limit of the whole row, ms, where it needs more than other rows. */
  withinMs?: number;
  /** Whether the relay may answer 503; without it, more than a few are a defect. */
  mayRefuse?: boolean;
  /** Further conditions: returns those that do not hold. */
  check?: (evidence: Evidence) => string[];
  /** How soon after the fault's end webhooks must be answered 202 again, ms; 1 s when absent. */
  acceptsWithinMs?: number;
  /** The bound for answers from a second after the fault, ms; `p99MsMax` of outcome/judge.ts when absent. */
  p99MsMax?: number;
};

/** A row acts through it, so that its faults are recorded. */
export type Stage = {
  load: Load;
  /** Rows that repeat their fault do it once. */
  brief: boolean;
  /** Waits until work is in flight, then runs `act`, which ends when everything is repaired. */
  fault: (what: string, act: () => Promise<void>, options?: { inFlight?: () => boolean }) => Promise<void>;
  wait: (ms: number) => Promise<void>;
};

/** Times are `performance.now()`, ms. */
export type Fault = {
  what: string;
  startedAt: number;
  endedAt: number;
  /** Requests without an answer, and deliveries without one, at the instant it began. */
  requestsInFlight: number;
  deliveriesInFlight: number;
};

export type Evidence = {
  faults: readonly Fault[];
  /** Answers of the relay that were no 202. */
  unavailable: number;
  reset: number;
  refused: number;
  timedOut: number;
  /** Deliveries whose sender closed the connection before the answer. */
  cut: number;
  /** Deliveries that arrived again. */
  duplicates: number;
  /** Accepted webhooks that the row had sent again until they were answered 202 again. */
  sentAgain: number;
};

/** Every fault hit requests and deliveries in flight. */
export function hitBoth({ faults }: Evidence): string | undefined {
  const hit = faults.every((fault) => fault.requestsInFlight > 0 && fault.deliveriesInFlight > 0);
  return hit && faults.length > 0
    ? `${sumOf(faults, 'requestsInFlight')} requests and ${sumOf(faults, 'deliveriesInFlight')} deliveries in flight`
    : undefined;
}

/** The faults hit requests in flight. */
export function hitRequests({ faults }: Evidence): string | undefined {
  const requests = sumOf(faults, 'requestsInFlight');
  return requests > 0 ? `${requests} requests were in flight` : undefined;
}

function sumOf(faults: readonly Fault[], key: 'requestsInFlight' | 'deliveriesInFlight'): number {
  return faults.reduce((total, fault) => total + fault[key], 0);
}
