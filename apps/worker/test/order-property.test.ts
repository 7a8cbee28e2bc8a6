import { waitFor } from '@hqrelay/testing/wait-for';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startAnotherWorker } from './another-worker.ts';
import { acceptingAt, type Accepted } from './ordered-webhooks.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

/**
 * `npm run chaos -- --order` sets both, with a seed of its own in each run: there the search is for new faults. A failure prints its
 * seed and its shortest schedule.
 */
const schedules = Number(process.env['ORDER_SCHEDULES'] ?? 3);
const seed = Number(process.env['ORDER_SEED'] ?? 20_261_122);

const keys = ['a', 'b', 'c'] as const;
const crashes = ['leaveKey', 'releaseFirst'] as const;

type Step =
  /** `early`: the message comes before the row. `messages`: how many duplicates of it. */
  | { kind: 'accept'; key: (typeof keys)[number]; early: boolean; messages: number }
  /** The endpoint refuses so many requests. */
  | { kind: 'refuse'; requests: number }
  /** A worker crashes before its next statement of this kind, and its message is redelivered. */
  | { kind: 'crash'; before: (typeof crashes)[number] }
  /** A message that was delivered once is redelivered. */
  | { kind: 'redeliver'; which: number }
  | { kind: 'other worker'; runs: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('accept' as const),
      key: fc.constantFrom(...keys),
      early: fc.boolean(),
      messages: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('refuse' as const), requests: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), before: fc.constantFrom(...crashes) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('redeliver' as const), which: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('other worker' as const), runs: fc.boolean() }) },
);
const schedule = fc.array(step, { minLength: 8, maxLength: 24 });

type Arrival = { id: string; key: string };

/** One schedule under way: with its own endpoint and the webhooks that were accepted for it. */
async function openRun() {
  const { projectId, endpoints } = await world.seed({
    retry: '1s,1s,1s,1s',
    orderingKey: '/key',
    timeoutMs: 1_000,
  });
  const { id: endpointId, endpoint } = endpoints[0]!;
  const run = {
    endpointId,
    endpoint,
    draft: acceptingAt(world, projectId, endpointId).draft,
    toRefuse: 0,
    /** The ids of each key, in the order of their acceptance. */
    accepted: new Map<string, string[]>(),
    messages: [] as Accepted[],
    redelivered: [] as Promise<unknown>[],
    restore: [] as (() => void)[],
    other: undefined as Awaited<ReturnType<typeof startAnotherWorker>> | undefined,
  };
  endpoint.answerWith((_, count) => {
    const statusCode = run.toRefuse > 0 ? 503 : 200;
    run.toRefuse = Math.max(0, run.toRefuse - 1);
    return { statusCode, delayMs: (count % 4) * 20 };
  });
  return run;
}

type Run = Awaited<ReturnType<typeof openRun>>;

async function take(run: Run, step: Step): Promise<void> {
  switch (step.kind) {
    case 'accept':
      return accept(run, step);
    case 'refuse':
      run.toRefuse += step.requests;
      return;
    case 'crash':
      for (const deps of [world.deps, ...(run.other ? [run.other.deps] : [])])
        run.restore.push(crashOnce(deps, step.before));
      return;
    case 'redeliver': {
      const webhook = run.messages[step.which % Math.max(1, run.messages.length)];
      if (webhook) run.redelivered.push(world.redeliver(webhook.message));
      return;
    }
    case 'other worker':
      if (step.runs) run.other ??= await startAnotherWorker(world);
      else await closeOther(run);
  }
}

async function accept(run: Run, step: Extract<Step, { kind: 'accept' }>): Promise<void> {
  const webhook = run.draft(step.key);
  if (step.early) await world.send(webhook.message);
  await webhook.record();
  run.accepted.set(step.key, [...(run.accepted.get(step.key) ?? []), webhook.id]);
  run.messages.push(webhook);
  for (let sent = step.early ? 1 : 0; sent < step.messages; sent += 1) await world.send(webhook.message);
}

async function closeOther(run: Run): Promise<void> {
  const { other } = run;
  run.other = undefined;
  await other?.close();
}

async function untilEnded({ endpointId, redelivered }: Run): Promise<void> {
  const hasEnded = async () => {
    await world.endTurns();
    const sql = 'select from ordered_deliveries where endpoint_id = $1';
    return (await world.sql.query(sql, [endpointId])).rows.length === 0;
  };
  await waitFor('every delivery to end', hasEnded);
  await Promise.all(redelivered);
}

/** Runs a schedule. Returns the accepted webhooks, and the arrivals in their order. */
async function runSchedule(steps: readonly Step[]) {
  const run = await openRun();
  try {
    for (const step of steps) await take(run, step);
    await untilEnded(run);
  } finally {
    for (const undo of run.restore) undo();
    await closeOther(run);
  }
  const arrivals = run.endpoint.requests.map(({ body }) => JSON.parse(body.toString()) as Arrival);
  return { accepted: run.accepted, arrivals };
}

/** Drops the worker's next statement: it crashes there, and no message of it does the statement again. */
function crashOnce(deps: typeof world.deps, before: (typeof crashes)[number]): () => void {
  const { leaveKey, releaseFirst } = deps;
  if (before === 'leaveKey') {
    deps.leaveKey = async () => {
      deps.leaveKey = leaveKey;
      return false;
    };
  } else {
    deps.releaseFirst = async () => {
      deps.releaseFirst = releaseFirst;
    };
  }
  return () => Object.assign(deps, { leaveKey, releaseFirst });
}

/** No webhook arrives after a later one of its key, and each arrives. */
async function arrivesInOrder(steps: readonly Step[]): Promise<void> {
  const { accepted, arrivals } = await runSchedule(steps);
  for (const [key, ids] of accepted) {
    const places = arrivals.filter((arrival) => arrival.key === key).map(({ id }) => ids.indexOf(id));
    expect(places, `the arrivals of key ${key}`).toEqual(places.toSorted((a, b) => a - b));
    expect(new Set(places).size, `the webhooks of key ${key} that arrived`).toBe(ids.length);
  }
}

describe('the order of webhooks', () => {
  it(
    'each key arrives in order, whatever fails, crashes, comes twice or is redelivered',
    { timeout: 600_000 + schedules * 90_000 },
    async () => {
      await fc.assert(fc.asyncProperty(schedule, arrivesInOrder), { numRuns: schedules, seed });
    },
  );

  it('the search finds the fault when a worker posts without its turn', { timeout: 600_000 }, async () => {
    const { askForTurn } = world.deps;
    world.deps.askForTurn = async (request) => {
      await askForTurn(request);
      return { kind: 'unordered' };
    };
    try {
      const found = { numRuns: 20, seed, endOnFailure: true };
      const checked = await fc.check(fc.asyncProperty(schedule, arrivesInOrder), found);
      expect(checked.failed).toBe(true);
      expect(String(checked.errorInstance)).toContain('the arrivals of key');
    } finally {
      world.deps.askForTurn = askForTurn;
    }
  });
});
