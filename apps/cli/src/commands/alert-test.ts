import { setTimeout as wait } from 'node:timers/promises';
import { testAlert } from '@hqrelay/actions/alert/test-alert';
import { readAlertMessage, type ListedAlertMessage } from '@hqrelay/db/queries/alert-messages';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type pg from 'pg';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { onOneLine, printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';

const pollEveryMs = 250;
/** Longer than one try to send takes. */
const timeoutMs = 60_000;

type Options = { json?: boolean };

export function addAlertTest(alert: Command, cli: Cli): void {
  alert
    .command('test')
    .description('let a worker send a test message, and say what the channel answered')
    .argument('<alert-id>', 'the alert', uuid)
    .option('--json', 'print one JSON value')
    .action((alertId: string, options: Options) => test(cli, alertId, options));
}

async function test(cli: Cli, alertId: string, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const message = await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    const made = await testAlert({ pool, actor: actorOfOperator() }, { alertId, now: Date.now() });
    return waitForAttempt(pool, valueOf(cli, made).messageId);
  });
  const attempt = message?.attempts[0];
  if (!attempt) {
    throw new CommandFailure(
      'no worker has tried to send the message yet: is one running? It is sent when one is',
    );
  }
  const answer = onOneLine(attempt.answer);
  const result = { alertId, messageId: message.id, sent: attempt.status === 'sent', answer };
  const sentence = result.sent
    ? `Sent the test message after ${attempt.latencyMs} ms: ${answer}`
    : `the test message was not sent: ${answer}; it is tried again`;
  if (result.sent || options.json) printResult(cli, options, result, () => sentence);
  if (!result.sent) throw new CommandFailure(sentence);
}

async function waitForAttempt(pool: pg.Pool, messageId: string): Promise<ListedAlertMessage | null> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const message = await readAlertMessage(pool, messageId);
    if ((message?.attempts.length ?? 0) > 0 || Date.now() > deadline) return message;
    await wait(pollEveryMs);
  }
}
