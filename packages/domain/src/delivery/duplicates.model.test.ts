import { describeExploration, explore, type Step } from '@hqrelay/testing/explore';
import { describe, expect, it } from 'vitest';
import {
  answerDuplicate,
  markOfNextAttempt,
  markOnReceipt,
  markWhenPublishedAgain,
  mustAskHistory,
  type DeliveryHistory,
  type DuplicateAnswer,
  type DuplicateMark,
} from './duplicates.ts';

// The model explores every interleaving of two workers that handle one delivery. The broker has its message, and the
// outbox a duplicate. The first attempt fails, and the second is the last. One assumption stands for time: a marked
// message waits longer than other live workers need for the same attempt (`isWaitOver`). A queue keeps its order, with
// redelivered messages in front. A person may ask for the second attempt at once while no worker has its message, or cancel the
// delivery after the first.

type Attempt = 1 | 2;
type Message = {
  n: Attempt;
  mark?: DuplicateMark | undefined;
  redelivered?: boolean;
  /** The message of the attempt that a person asked for. */
  isAskedFor?: boolean;
};
type Work = {
  message: Message;
  mark?: DuplicateMark | undefined;
  phase: 'received' | 'posting' | 'recorded' | 'followed';
  isResumed?: boolean;
  /** The attempt had its row when the request began. */
  isRepeated?: boolean;
  /** The delivery was cancelled when the worker asked Postgres. */
  isCancelled?: boolean;
  /** The broker has requeued the message; the worker does not know yet. */
  isCutOff?: boolean;
  isAcknowledged?: boolean;
};
type Faults = {
  crash: number;
  cutOff: number;
  postgres: number;
  broker: number;
  hold: number;
  order: number;
};
/** What a person may still do. */
type Decisions = { retryNow: number; cancel: number };
type State = {
  queue: Message[];
  outbox: Message[];
  held: Message | null;
  rows: Attempt[];
  /** Rows in the queue of spilled audit rows. */
  spilled: Attempt[];
  isDeadLettered: boolean;
  slots: (Work | null)[];
  /** How many faults of each kind may still happen. */
  faults: Faults;
  decisions: Decisions;
  isRetriedNow: boolean;
  isCancelled: boolean;
  /**
   * Two workers may post the same attempt, because one of them lost a store or the broker, or because a duplicate
   * overtook its message.
   */
  mayPostTwice: boolean;
  hadFault: boolean;
  /** How many messages of the second attempt were published. */
  retries: number;
};

/** Worker B handles one message at a time, and worker A two if there is a third slot. */
const slotNames = ['A', 'B', 'A (2nd message)'];
const processOf = (slot: number) => (slot === 1 ? 'B' : 'A');

type Rules = {
  markOnReceipt: typeof markOnReceipt;
  markWhenPublishedAgain: typeof markWhenPublishedAgain;
  markOfNextAttempt: typeof markOfNextAttempt;
  mustAskHistory: typeof mustAskHistory;
  answerDuplicate: typeof answerDuplicate;
  waits: (mark: DuplicateMark | undefined) => boolean;
  /** A unique key allows one row for each attempt. */
  isUnique: boolean;
  /** A worker does the follow-up before it acknowledges the message. */
  followsUpFirst: boolean;
  /** A worker resumes a redelivered message whose attempt another worker recorded. */
  resumesOvertaken: boolean;
  /** A held message that is marked to resume is not replaced by one without that mark. */
  keepsHeldDuty: boolean;
};

const rules: Rules = {
  markOnReceipt,
  markWhenPublishedAgain,
  markOfNextAttempt,
  mustAskHistory,
  answerDuplicate,
  waits: (mark) => mark !== undefined,
  isUnique: true,
  followsUpFirst: true,
  resumesOvertaken: true,
  keepsHeldDuty: true,
};

const original: Message = { n: 1 };
const fromOutbox: Message = { n: 1, mark: 'done_if_recorded' };

function check(possible: Partial<Faults & Decisions>, changed: Partial<Rules> = {}, slots = 2): string {
  const { retryNow = 0, cancel = 0, ...faults } = possible;
  const applied = { ...rules, ...changed };
  const none: Faults = { crash: 0, cutOff: 0, postgres: 0, broker: 0, hold: 0, order: 0 };
  const exploration = explore<State>(
    {
      initial: {
        queue: [original, fromOutbox],
        outbox: [],
        held: null,
        rows: [],
        spilled: [],
        isDeadLettered: false,
        slots: Array.from({ length: slots }, () => null),
        faults: { ...none, ...faults },
        decisions: { retryNow, cancel },
        isRetriedNow: false,
        isCancelled: false,
        mayPostTwice: false,
        hadFault: false,
        retries: 0,
      },
      steps: (state) => stepsOf(applied, state),
      violations,
      alwaysReachable: {
        sentence: 'a follow-up is lost',
        reached: ({ isDeadLettered, isCancelled }) => isDeadLettered || isCancelled,
      },
    },
    { statesMax: 200_000 },
  );
  return describeExploration(exploration);
}

function* violations({ rows, slots, mayPostTwice, hadFault, retries }: State): Iterable<string> {
  if (new Set(rows).size < rows.length) yield 'an attempt is recorded twice';
  if (retries > 1 && !hadFault) yield 'the schedule forks';
  const posting = slots.filter((work) => work?.phase === 'posting');
  const attempts = posting.map((work) => work?.message.n);
  if (!mayPostTwice && new Set(attempts).size < attempts.length) yield 'two workers post the same attempt';
  if (posting.some((work) => work?.isRepeated)) yield 'a recorded attempt is posted again';
  if (posting.some((work) => work?.isCancelled)) yield 'a cancelled delivery is posted';
}

function* stepsOf(applied: Rules, state: State): Iterable<Step<State>> {
  for (const [slot, work] of state.slots.entries()) {
    if (work) yield* workSteps(applied, state, slot, work);
    else if (slot !== 2 || state.slots[0]) yield* receive(applied, state, slot);
  }
  yield* faultSteps(state);
  yield* storeSteps(state);
  yield* decisionSteps(state);
}

function* receive(applied: Rules, state: State, slot: number): Iterable<Step<State>> {
  const [message, ...queue] = state.queue;
  if (!message) return;
  const mark = applied.markOnReceipt(message.mark, { redelivered: message.redelivered ?? false });
  const redelivered = message.redelivered ? ', redelivered' : '';
  yield {
    label: `${slotNames[slot]} receives attempt ${message.n} (${message.mark ?? 'unmarked'}${redelivered})`,
    state: withSlot({ ...state, queue }, slot, { message, mark, phase: 'received' }),
  };
}

function* workSteps(applied: Rules, state: State, slot: number, work: Work): Iterable<Step<State>> {
  const name = slotNames[slot];
  const { n } = work.message;
  switch (work.phase) {
    case 'received':
      if (isWaitOver(applied, state, slot, work)) yield* ask(applied, state, slot, work);
      return;
    case 'posting':
      yield* record(applied, state, slot, work);
      return;
    case 'recorded':
      yield* followUp(applied, state, slot, work);
      return;
    case 'followed':
      yield { label: `${name} acknowledges attempt ${n}`, state: withSlot(state, slot, null) };
  }
}

function* followUp(applied: Rules, state: State, slot: number, work: Work): Iterable<Step<State>> {
  const name = slotNames[slot];
  const done = withSlot(state, slot, { ...work, phase: 'followed' });
  if (work.message.n === 2) {
    yield { label: `${name} stores the dead letter`, state: { ...done, isDeadLettered: true } };
    return;
  }
  const next: Message = { n: 2, mark: applied.markOfNextAttempt({ isResumed: work.isResumed ?? false }) };
  const published = { ...done, retries: state.retries + 1, queue: [...state.queue, next] };
  const label = `${name} publishes attempt 2`;
  yield { label, state: published };
  if (state.faults.order > 0) {
    const overtaking = { ...published, queue: [next, ...state.queue] };
    yield { label: `${label}, which overtakes the queue`, state: spend(overtaking, 'order') };
  }
  if (state.faults.broker > 0) {
    const spilled = { ...next, mark: applied.markWhenPublishedAgain(next.mark) };
    const late = { ...published, outbox: [...state.outbox, spilled] };
    yield { label: `${label}, which is confirmed too late, and spills it`, state: spend(late, 'broker') };
  }
}

/** A marked message waits for live workers that post its attempt, or are about to post it without asking Postgres. */
function isWaitOver(applied: Rules, { slots }: State, slot: number, { message, mark }: Work): boolean {
  if (!applied.waits(mark)) return true;
  return !slots.some((other, index) => {
    if (!other || index === slot || other.isCutOff || other.message.n !== message.n) return false;
    if (other.phase === 'received') return !other.mark;
    return other.phase !== 'followed' && processOf(index) !== processOf(slot);
  });
}

function* ask(applied: Rules, state: State, slot: number, work: Work): Iterable<Step<State>> {
  const { mark, message } = work;
  const { n } = message;
  const isInFlightHere = state.slots.some(
    (other, index) =>
      other && index !== slot && processOf(index) === processOf(slot) && other.phase !== 'received',
  );
  const asks = !isInFlightHere && applied.mustAskHistory({ mark, attemptNum: n });
  const histories = asks && state.faults.postgres > 0 ? [historyOf(state), undefined] : [historyOf(state)];
  for (const history of histories) {
    const isBlind = asks && history === undefined;
    const answer = applied.answerDuplicate({
      attemptNum: n,
      notBefore: message.isAskedFor ? askedForAt : 0,
      mark,
      history: asks ? history : undefined,
      isInFlightHere,
    });
    const after = isBlind ? spend(state, 'postgres') : state;
    const label = `${slotNames[slot]} ${isBlind ? 'gets no answer' : asks ? 'asks' : 'does not ask'} about attempt ${n}: ${answer}`;
    const again = { ...message, redelivered: false, mark: applied.markWhenPublishedAgain(mark) };
    if (answer === 'done') yield { label, state: withSlot(after, slot, null) };
    if (answer === 'busy')
      yield { label, state: withSlot({ ...after, queue: [...after.queue, again] }, slot, null) };
    if (answer === 'resume')
      yield { label, state: withSlot(after, slot, { ...work, phase: 'recorded', isResumed: true }) };
    if (answer !== 'post') continue;
    const posting = {
      ...work,
      phase: 'posting',
      isRepeated: !isBlind && !work.isCutOff && state.rows.includes(n),
      isCancelled: !isBlind && state.isCancelled,
    } as const;
    yield { label, state: withSlot(after, slot, posting) };
    if (after.faults.hold > 0)
      yield {
        label: `${label}, but holds it`,
        state: withSlot(spend({ ...after, held: heldOf(applied, after.held, again) }, 'hold'), slot, null),
      };
  }
}

function* record(applied: Rules, state: State, slot: number, work: Work): Iterable<Step<State>> {
  const name = slotNames[slot];
  const { n } = work.message;
  const recorded = { ...work, phase: 'recorded' } as const;
  if (state.faults.postgres > 0)
    yield {
      label: `${name} spills the row of attempt ${n}`,
      state: withSlot(spend({ ...state, spilled: [...state.spilled, n] }, 'postgres'), slot, recorded),
    };
  if (applied.isUnique && state.rows.includes(n)) {
    const resumes =
      applied.resumesOvertaken && work.mark === 'resume_if_recorded' && Math.max(...state.rows) === n;
    yield {
      label: `${name} finds the row of attempt ${n}: ${resumes ? 'resume' : 'done'}`,
      state: withSlot(state, slot, resumes ? { ...recorded, isResumed: true } : null),
    };
    return;
  }
  const stored = { ...state, rows: [...state.rows, n] };
  const next = applied.followsUpFirst ? recorded : { ...recorded, isAcknowledged: true };
  yield { label: `${name} records attempt ${n}`, state: withSlot(stored, slot, next) };
}

function* faultSteps(state: State): Iterable<Step<State>> {
  for (const process of ['A', 'B']) {
    const works = state.slots.filter((work, slot) => work && processOf(slot) === process);
    if (works.length === 0 || state.faults.crash === 0) continue;
    const slots = state.slots.map((work, slot) => (processOf(slot) === process ? null : work));
    const requeued = works
      .filter((work) => !work!.isCutOff && !work!.isAcknowledged)
      .map((work) => redelivered(work!));
    const after = { ...state, slots, queue: [...requeued, ...state.queue] };
    yield { label: `${process} crashes`, state: spend(after, 'crash') };
  }
  for (const [slot, work] of state.slots.entries()) {
    if (!work || work.isCutOff || work.isAcknowledged || state.faults.cutOff === 0) continue;
    const after = withSlot(state, slot, { ...work, isCutOff: true });
    yield {
      label: `${slotNames[slot]} is cut off from the broker`,
      state: spend({ ...after, queue: [redelivered(work), ...after.queue] }, 'cutOff'),
    };
  }
}

/** The jobs publish outbox rows and the held delivery, perhaps without deleting them, and write spilled rows. */
function* storeSteps(state: State): Iterable<Step<State>> {
  const [spilled, ...outbox] = state.outbox;
  if (spilled) {
    const published = { ...state, queue: [...state.queue, spilled] };
    yield { label: 'the outbox is drained', state: { ...published, outbox } };
    if (state.faults.postgres > 0)
      yield { label: 'the outbox is drained and keeps its row', state: spend(published, 'postgres') };
  }
  if (state.held) {
    const published = { ...state, queue: [...state.queue, state.held] };
    yield { label: 'the held delivery is released', state: { ...published, held: null } };
    if (state.faults.postgres > 0)
      yield { label: 'the held delivery is released and keeps its row', state: spend(published, 'postgres') };
  }
  const [row, ...rest] = state.spilled;
  if (row) {
    const rows = state.rows.includes(row) ? state.rows : [...state.rows, row];
    yield { label: `the spilled row of attempt ${row} is written`, state: { ...state, rows, spilled: rest } };
  }
}

/** A person sees the recorded attempts, and decides while the second one is not in flight. */
function* decisionSteps(state: State): Iterable<Step<State>> {
  const { decisions, rows, spilled, slots } = state;
  const isWaiting = rows.includes(1) && !rows.includes(2) && spilled.length === 0;
  if (!isWaiting || slots.some((work) => work?.message.n === 2)) return;
  if (decisions.retryNow > 0 && !state.isCancelled) {
    const other = state.held?.n === 2 ? state.held : ({ n: 2, mark: 'done_if_recorded' } as const);
    yield {
      label: 'a person asks for attempt 2 at once',
      state: {
        ...state,
        held: { ...other, isAskedFor: true },
        isRetriedNow: true,
        decisions: { ...decisions, retryNow: decisions.retryNow - 1 },
      },
    };
  }
  if (decisions.cancel > 0) {
    const cancelled = {
      held: null,
      isCancelled: true,
      decisions: { ...decisions, cancel: decisions.cancel - 1 },
    };
    yield { label: 'a person cancels the delivery', state: { ...state, ...cancelled } };
  }
}

function heldOf(applied: Rules, held: Message | null, message: Message): Message {
  if (!held || message.n > held.n) return message;
  const replaces = message.n === held.n && (!applied.keepsHeldDuty || message.mark === 'resume_if_recorded');
  return replaces ? message : held;
}

const askedForAt = 1;

function historyOf({ rows, isCancelled, isRetriedNow }: State): DeliveryHistory {
  const finished = rows.includes(2);
  const lastStatus = finished ? 'dead_lettered' : rows.length > 0 ? 'failed' : null;
  return {
    isCancelled,
    retryNow: isRetriedNow ? { attemptNum: 2, notBefore: askedForAt } : null,
    finished,
    lastAttemptNum: Math.max(0, ...rows),
    lastStatus,
    lastError: null,
    nextAttemptAt: null,
  };
}

function redelivered({ message }: Work): Message {
  return { ...message, redelivered: true };
}

function withSlot(state: State, slot: number, work: Work | null): State {
  return { ...state, slots: state.slots.with(slot, work) };
}

function spend(state: State, fault: keyof Faults): State {
  return {
    ...state,
    hadFault: true,
    mayPostTwice: state.mayPostTwice || fault === 'postgres' || fault === 'cutOff' || fault === 'order',
    faults: { ...state.faults, [fault]: state.faults[fault] - 1 },
  };
}

// Each test explores up to 200,000 states.
describe('two workers with one delivery', () => {
  it.each<[string, Partial<Faults & Decisions>, number?]>([
    ['one worker crashes, and worker A handles two messages', { crash: 1 }, 3],
    ['workers crash twice, hold the delivery, and get a confirm too late', { crash: 2, broker: 1, hold: 1 }],
    ['a worker is cut off from the broker, and one crashes', { crash: 1, cutOff: 1, hold: 1 }],
    ['a worker loses Postgres, and one crashes', { crash: 1, postgres: 1, hold: 1 }],
    ['a duplicate overtakes its message, and a worker crashes', { crash: 1, order: 1, broker: 1 }],
    ['a person asks for the second attempt at once, and two workers crash', { retryNow: 1, crash: 2 }],
    ['a person asks for the second attempt at once, and worker A handles two messages', { retryNow: 1 }, 3],
    ['a person asks twice for an attempt that is held', { retryNow: 2, crash: 1, hold: 1 }],
    ['a person asks for an attempt at once and cancels it', { retryNow: 1, cancel: 1, crash: 1, hold: 1 }],
  ])('each attempt is recorded once, never posted again and followed up when %s', (_when, faults, slots) => {
    expect(check(faults, {}, slots)).toMatch(/^holds in all \d+ states$/);
  });

  it.each<[string, string, Partial<Rules>, Partial<Faults & Decisions>, number?]>([
    [
      'a redelivered message is not marked',
      'a recorded attempt is posted again',
      { markOnReceipt: (mark) => mark },
      { crash: 1 },
    ],
    [
      'a redelivered message does not resume',
      'a follow-up is lost',
      { markOnReceipt: (mark, { redelivered: is }) => (is ? 'done_if_recorded' : mark) },
      { crash: 1 },
    ],
    [
      'a message that is published again loses the duty to resume',
      'a follow-up is lost',
      { markWhenPublishedAgain: () => 'done_if_recorded' },
      { crash: 1 },
      3,
    ],
    [
      'the retry of a resumed attempt is not marked',
      'two workers post the same attempt',
      { markOfNextAttempt: () => undefined },
      { crash: 1 },
    ],
    [
      'a retry does not ask for the history',
      'a recorded attempt is posted again',
      { mustAskHistory: ({ mark }) => mark !== undefined },
      { crash: 1, order: 1 },
    ],
    [
      'a marked first attempt does not ask for the history',
      'a recorded attempt is posted again',
      { mustAskHistory: ({ attemptNum }) => attemptNum > 1 },
      {},
    ],
    [
      'a worker ignores its other messages in flight',
      'two workers post the same attempt',
      { answerDuplicate: (message) => answerDuplicate({ ...message, isInFlightHere: false }) },
      {},
      3,
    ],
    [
      'a recorded attempt is never resumed',
      'a follow-up is lost',
      { answerDuplicate: (message) => instead('resume', 'done', answerDuplicate(message)) },
      { crash: 1 },
    ],
    [
      'every duplicate is resumed',
      'the schedule forks',
      { answerDuplicate: (message) => instead('done', 'resume', answerDuplicate(message)) },
      {},
    ],
    ['a marked message does not wait', 'two workers post the same attempt', { waits: () => false }, {}],
    ['an attempt may have two rows', 'an attempt is recorded twice', { isUnique: false }, { cutOff: 1 }],
    [
      'a message is acknowledged before its follow-up',
      'a follow-up is lost',
      { followsUpFirst: false },
      { crash: 1 },
    ],
    [
      'a redelivered message that finds the row of another worker is done',
      'a follow-up is lost',
      { resumesOvertaken: false },
      { crash: 1, cutOff: 1 },
    ],
    [
      'a held message that is marked to resume is replaced by one without that mark',
      'a follow-up is lost',
      { keepsHeldDuty: false },
      { crash: 1, cutOff: 1, hold: 2 },
    ],
    [
      'a message stays although a person asked for its attempt at once',
      'two workers post the same attempt',
      { answerDuplicate: (message) => answerDuplicate(withDecision(message, { retryNow: null })) },
      { retryNow: 1 },
    ],
    [
      'a worker does not read that the delivery is cancelled',
      'a cancelled delivery is posted',
      { answerDuplicate: (message) => answerDuplicate(withDecision(message, { isCancelled: false })) },
      { cancel: 1 },
    ],
  ])('if %s, the model finds that %s', (_mutation, sentence, changed, faults, slots) => {
    const counterExample = check(faults, changed, slots);
    expect(counterExample.split('\n')[0]).toBe(`${sentence}:`);
  });

  it('the model prints the shortest interleaving that breaks a rule', () => {
    expect(check({ crash: 1 }, { markOfNextAttempt: () => undefined })).toMatchInlineSnapshot(`
      "two workers post the same attempt:
        1. A receives attempt 1 (unmarked)
        2. A does not ask about attempt 1: post
        3. A records attempt 1
        4. A publishes attempt 2
        5. A acknowledges attempt 1
        6. A receives attempt 1 (done_if_recorded)
        7. B receives attempt 2 (unmarked)
        8. B asks about attempt 2: post
        9. A crashes
        10. A receives attempt 1 (done_if_recorded, redelivered)
        11. A asks about attempt 1: resume
        12. A publishes attempt 2
        13. A acknowledges attempt 1
        14. A receives attempt 2 (unmarked)
        15. A asks about attempt 2: post"
    `);
  });
});

function instead(answer: DuplicateAnswer, other: DuplicateAnswer, given: DuplicateAnswer): DuplicateAnswer {
  return given === answer ? other : given;
}

type Question = Parameters<typeof answerDuplicate>[0];

function withDecision(message: Question, decision: Partial<DeliveryHistory>): Question {
  return { ...message, history: message.history && { ...message.history, ...decision } };
}
