import { consoleUrlOf, createConsoleLink } from '@hqrelay/actions/session/create-console-link';
import { apiRoles, type ApiRole } from '@hqrelay/domain/access/api-role';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Command, Option } from 'commander';
import type { Cli } from '../cli.ts';
import { operatorName } from '../config.ts';
import { withDatabase } from '../database.ts';
import { durationBetween, label, uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actorOfOperator, valueOf } from '../perform-action.ts';

type Options = {
  project?: string;
  role: ApiRole;
  subject?: string;
  /** ms. */
  expires: number;
  returnUrl?: string;
  hidePayloads?: boolean;
  json?: boolean;
};

const hourMs = 3_600_000;

export function addConsoleLink(parent: Command, cli: Cli): void {
  parent
    .command('link')
    .description('make a link that signs one browser in to the console, and print it')
    .option('--project <project-id>', 'the session sees this project alone', uuid)
    .addOption(
      new Option('--role <role>', 'viewer reads; operator also changes endpoints and replays; admin does all')
        .choices(apiRoles)
        .default('admin' satisfies ApiRole),
    )
    .option('--subject <name>', 'who signs in, for the admin log (your own name when not given)', label(200))
    .addOption(
      new Option('--expires <duration>', 'how long the link may be used (1m to 7d)')
        .argParser(durationBetween('1m', '7d'))
        .default(hourMs, '1h'),
    )
    .option('--return-url <url>', 'a path of the console to open, or the URL of a page that it links back to')
    .option(
      '--hide-payloads',
      'the session sees no body, header or query of a webhook, and no answer of an endpoint',
    )
    .option('--json', 'print one JSON value')
    .action((options: Options) => create(cli, options));
}

async function create(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL', 'CONSOLE_URL', 'CONSOLE_PORT'], cli.env);
  const { role, subject = operatorName(), expires: expiresInMs } = options;
  const { project: projectId = null, returnUrl = null, hidePayloads = false } = options;
  const grant = { subject, role, projectId, hidePayloads, returnUrl };
  const input = { ...grant, expiresInMs, consoleUrl: consoleUrlOf(config) };
  const { url, link } = await withDatabase(config.consoleDatabaseUrl, async (pool) =>
    valueOf(cli, await createConsoleLink({ pool, actor: actorOfOperator() }, input)),
  );
  printResult(cli, options, { url, expiresAt: link.expiresAt }, () => {
    const fields = { URL: url, subject, role, expires: link.expiresAt };
    return `Made a link that signs one browser in. It is shown this once only.\n${formatFields(fields)}`;
  });
}
