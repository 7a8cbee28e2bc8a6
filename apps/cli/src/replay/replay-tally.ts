import {
  replayDeadLetters,
  type BatchEnd,
  type ReplayedBatch,
  type Selection,
  type WhyNotReplayed,
} from '@hqrelay/db/queries/replay-dead-letters';
import type pg from 'pg';
import { formatTable } from '../output/print.ts';
import { encodeReplay } from './replay-message.ts';
import { heldNote, type ReplayTarget } from './replay-target.ts';

const reasons: Readonly<Record<WhyNotReplayed, string>> = {
  payload_gone: 'their payload is gone (PAYLOAD_RETENTION_DAYS)',
  not_recorded: 'their webhook is not recorded (yet)',
  no_endpoint: 'their endpoint does not exist',
};
const namedMax = 1_000;
const namedForPeople = 10;

/** Replays a whole selection, batch after batch; each is committed by itself. */
export async function replayAll(
  pool: pg.Pool,
  selection: Selection,
  { perSecond, requestedBy }: { perSecond: number; requestedBy: string },
  tally: ReplayTally,
): Promise<void> {
  let after: BatchEnd | null = null;
  do {
    const options = { perSecond, requestedBy, now: Date.now(), encode: encodeReplay, after };
    const batch: ReplayedBatch = await replayDeadLetters(pool, selection, options);
    tally.addBatch(batch);
    after = batch.end;
  } while (after !== null);
}

type Refused = { count: number; ids: string[] };

/** What a replay of dead letters came to, for people and programs. */
export class ReplayTally {
  count = 0;
  firstDueAt: Date | null = null;
  lastDueAt: Date | null = null;
  readonly #replays: ReplayedBatch['replays'] = [];
  readonly #byEndpoint = new Map<string, number>();
  readonly #targets = new Map<string, ReplayTarget | null>();
  readonly #refused = new Map<string, Refused>();

  addBatch({ replays, notReplayed }: ReplayedBatch): void {
    for (const replay of replays) {
      this.#add(replay.endpointId, 1);
      this.firstDueAt ??= new Date(replay.dueAt);
      this.lastDueAt = new Date(replay.dueAt);
      if (this.#replays.length < namedMax) this.#replays.push(replay);
    }
    for (const { id, why } of notReplayed) this.refuse(id, reasons[why]);
  }

  /** Of a dry run. */
  addCounts(counts: readonly { endpointId: string; whyNot: WhyNotReplayed | null; count: number }[]): void {
    for (const { endpointId, whyNot, count } of counts) {
      if (whyNot === null) this.#add(endpointId, count);
      else this.#refuse(reasons[whyNot], count);
    }
  }

  refuse(id: string, why: string): void {
    this.#refuse(why, 1, id);
  }

  async describeTargets(read: (endpointId: string) => Promise<ReplayTarget | null>): Promise<void> {
    for (const endpointId of this.#byEndpoint.keys()) this.#targets.set(endpointId, await read(endpointId));
  }

  /** `named`: with every replay of those that were asked for by their ids. */
  result(named: boolean) {
    const replays = this.#replays.map(({ dueAt, ...each }) => ({ ...each, dueAt: new Date(dueAt) }));
    return {
      count: this.count,
      endpoints: this.#endpoints(),
      firstDueAt: this.firstDueAt,
      lastDueAt: this.lastDueAt,
      ...(named && { replays }),
      notReplayed: [...this.#refused].map(([reason, { count, ids }]) => ({ reason, count, ids })),
    };
  }

  table(): string {
    return formatTable(
      ['ENDPOINT', 'URL', 'COUNT', 'NOTE'],
      this.#endpoints().map((each) => [each.endpointId, each.url, each.count, heldNote(each)]),
      'None.',
    );
  }

  /** What could not be replayed, and why; null when everything was. */
  failure(): string | null {
    const lines = [...this.#refused].map(([reason, { count, ids }]) => {
      const named = ids.slice(0, namedForPeople).join(', ');
      const more = count > namedForPeople && ids.length > 0 ? ', …' : '';
      return `${count} cannot be replayed: ${reason}${named === '' ? '' : ` [${named}${more}]`}`;
    });
    return lines.length === 0 ? null : lines.join('\n');
  }

  #endpoints() {
    return [...this.#byEndpoint].map(([endpointId, count]) => {
      const { url = null, heldBecause = null } = this.#targets.get(endpointId) ?? {};
      return { endpointId, url, count, heldBecause };
    });
  }

  #add(endpointId: string, count: number): void {
    this.count += count;
    this.#byEndpoint.set(endpointId, (this.#byEndpoint.get(endpointId) ?? 0) + count);
  }

  #refuse(why: string, count: number, id?: string): void {
    const refused = this.#refused.get(why) ?? { count: 0, ids: [] };
    refused.count += count;
    if (id !== undefined && refused.ids.length < namedMax) refused.ids.push(id);
    this.#refused.set(why, refused);
  }
}
