import type { Command } from 'commander';
import { newId } from '@hqrelay/domain/ids';
import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure } from '../cli.ts';
import { webhookUrl } from '../config.ts';
import { withDatabase } from '../database.ts';
import { readInputFile } from '../options/input-file.ts';
import { integerBetween, label, uuid } from '../options/options.ts';
import { formatTable, printResult } from '../output/print.ts';
import { createProvider, type SendAnswer } from '../send-as-provider.ts';

type Options = {
  project: string;
  body?: string;
  contentType?: string;
  eventType?: string;
  webhookId?: string;
  count?: number;
  json?: boolean;
};

const countMax = 100_000;
const inFlightMax = 16;

export function addSend(program: Command, cli: Cli): void {
  program
    .command('send')
    .description('sign and post a webhook as the provider would, and print the answer')
    .requiredOption('--project <project-id>', 'the project', uuid)
    .option('--body <file>', "the body, byte for byte; '-' is stdin; a small JSON sample when not given")
    .option('--event-type <type>', 'the event type, where the provider puts it', label(255))
    .option('--webhook-id <id>', 'the id, where the provider puts it; a new one when not given', label(4_096))
    .option(
      '--content-type <type>',
      'application/json when the body is JSON, else application/octet-stream',
      label(255),
    )
    .option(
      '--count <n>',
      'send so many, each with an id of its own; --json then prints a list',
      integerBetween(1, countMax),
    )
    .option('--json', 'print one JSON value')
    .action((options: Options) => send(cli, options));
}

async function send(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(
    ['CONSOLE_DATABASE_URL', 'HQRELAY_SECRETS_KEY', 'PUBLIC_URL', 'RECEIVER_URL', 'RECEIVER_PORT'],
    cli.env,
  );
  const body = options.body === undefined ? undefined : await readInputFile(cli, '--body', options.body);
  const project = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    readProjectConfig(pool, options.project),
  );
  if (!project) throw new CommandFailure(`there is no project ${options.project}`);

  const url = webhookUrl({ ...config, publicUrl: config.receiverUrl }, project.id);
  const provide = createProvider(config, project, { url, signedUrl: webhookUrl(config, project.id) });
  const { eventType, contentType, count = 1 } = options;
  const idOf = (index: number): string => {
    if (options.webhookId === undefined) return `evt_${newId(Date.now())}`;
    return options.count === undefined ? options.webhookId : `${options.webhookId}-${index + 1}`;
  };
  const answers = await sendAll(count, inFlightMax, (index) =>
    provide({ webhookId: idOf(index), eventType, contentType, body }),
  );

  const accepted = answers.filter((answer) => answer.error === null).length;
  printResult(cli, options, options.count === undefined ? answers[0] : answers, () => describe(answers));
  if (accepted < count) {
    const first = answers.find((answer) => answer.error !== null);
    throw new CommandFailure(`${count - accepted} of ${count} not accepted by ${url}: ${first?.error}`);
  }
}

/** Calls `sendOne` for each index, `inFlightMax` at a time, and returns the answers in order. */
async function sendAll(
  count: number,
  inFlight: number,
  sendOne: (index: number) => Promise<SendAnswer>,
): Promise<SendAnswer[]> {
  const answers: SendAnswer[] = [];
  let next = 0;
  const sendNext = async () => {
    while (next < count) {
      const index = next++;
      answers[index] = await sendOne(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, sendNext));
  return answers;
}

function describe(answers: readonly SendAnswer[]): string {
  const table = formatTable(
    ['ANSWER', 'ID', 'REPLAYED', 'WEBHOOK ID', 'LATENCY', 'ERROR'],
    answers.map((each) => [
      each.statusCode,
      each.id,
      each.replayed,
      each.webhookId,
      `${each.latencyMs} ms`,
      each.error,
    ]),
    '',
  );
  const shown = answers.find((answer) => answer.id !== null);
  return shown ? `${table}\n\nSee what became of it: hqrelay webhook show ${shown.id}` : table;
}
