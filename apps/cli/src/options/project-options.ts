import { searchKeyForm } from '@hqrelay/domain/search-key';
import { type Command, Option } from 'commander';
import { durationBetween, integerBetween, parsedBy } from './options.ts';

const tiers: ReadonlyMap<string, number> = new Map([
  ['default', 100],
  ['enterprise', 1_000],
]);

const perMinute = integerBetween(1, 1_000_000);

/** The options of both `project create` and `project update`, as commander parses them. */
export type ProjectOptions = {
  /** A tier is a named rate limit. */
  rateLimit?: number | 'unlimited';
  tier?: number;
  requireTimestamp?: boolean;
  onConflict?: 'reject' | 'duplicate';
  sameBody?: 'accept' | 'duplicate';
  /** ms. */
  idempotencyTtl?: number;
  /** False: none. */
  searchKey?: string[] | false;
};

export function addProjectOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--rate-limit <n>', 'webhooks a minute, or unlimited')
        .argParser((text) => (text === 'unlimited' ? text : perMinute(text)))
        .conflicts('tier'),
    )
    .addOption(
      new Option('--tier <name>', 'default (100 a minute) or enterprise (1000 a minute)').argParser(
        parsedBy((text) => {
          const limit = tiers.get(text);
          if (limit === undefined) throw new RangeError(`expected ${[...tiers.keys()].join(' or ')}`);
          return limit;
        }),
      ),
    )
    .option('--require-timestamp', 'signatures cover X-Webhook-Timestamp, which must be within 300 s')
    .addOption(
      new Option('--on-conflict <what>', 'what the same id with another body is').choices([
        'reject',
        'duplicate',
      ]),
    )
    .addOption(
      new Option('--same-body <what>', 'what the same body under another id is').choices([
        'accept',
        'duplicate',
      ]),
    )
    .addOption(
      new Option(
        '--search-key <pointer>',
        'find webhooks received from now on by this value of their payload, such as /order/id (up to five)',
      ).argParser((text: string, before: string[] | false | undefined) => addSearchKey(before || [])(text)),
    )
    .option(
      '--idempotency-ttl <duration>',
      'how long an id is remembered (1m to 30d)',
      durationBetween('1m', '30d'),
    );
}

const addSearchKey = (before: readonly string[]) =>
  parsedBy((text) => {
    if (text.length > 200 || !searchKeyForm.test(text)) {
      throw new RangeError('expected a JSON Pointer such as /order/id');
    }
    if (before.length === 5) throw new RangeError('a project has at most five search keys');
    return [...before, text];
  });

/** The settings that were given. */
export function projectSettings(options: ProjectOptions) {
  const rateLimit = options.tier ?? options.rateLimit;
  return {
    ...(rateLimit !== undefined && { rateLimitPerMinute: rateLimit === 'unlimited' ? null : rateLimit }),
    ...(options.requireTimestamp !== undefined && { requireTimestamp: options.requireTimestamp }),
    ...(options.onConflict && { onConflict: options.onConflict }),
    ...(options.searchKey !== undefined && { searchKeys: options.searchKey || [] }),
    ...(options.sameBody && { sameBody: options.sameBody }),
    ...(options.idempotencyTtl !== undefined && { idempotencyTtlSeconds: options.idempotencyTtl / 1_000 }),
  };
}
