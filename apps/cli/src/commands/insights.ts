import { readProject } from '@hqrelay/db/queries/projects';
import { modelOf, periodAsked, periodProblem, readInsights } from '@hqrelay/insights/read-insights';
import { createFetch } from '@hqrelay/outbound/proxied-fetch';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, CommandFailure, UsageError } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { pastMoment, uuid } from '../options/options.ts';
import { formatInsights } from '../output/format-insights.ts';
import { printResult } from '../output/print.ts';

type Options = {
  project: string;
  since?: number;
  until?: number;
  sql?: boolean;
  summary: boolean;
  json?: boolean;
};

export function addInsights(program: Command, cli: Cli): void {
  program
    .command('insights')
    .description('what is noteworthy about a project: failures, rejected requests, backlogs, slow endpoints')
    .requiredOption('--project <project-id>', 'the project', uuid)
    .option(
      '--since <duration|time>',
      'how far back, such as 7d or 2026-03-01T02:13Z (24h when not given)',
      pastMoment,
    )
    .option('--until <duration|time>', 'the end of the period (now when not given)', pastMoment)
    .option('--no-summary', 'ask no model')
    .option('--sql', 'print the SQL of each finding too')
    .option('--json', 'print one JSON value')
    .action((options: Options) => showInsights(cli, options));
}

async function showInsights(cli: Cli, options: Options): Promise<void> {
  const names = [
    'CONSOLE_DATABASE_URL',
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_BASE_URL',
    'INSIGHTS_MODEL',
    'EGRESS_PROXY',
  ] as const;
  const config = loadConfig(names, cli.env);
  const now = Date.now();
  const asked = periodAsked({ ...options, now });
  const problem = periodProblem(asked);
  if (problem) throw new UsageError(`--${problem}`);
  const found = await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    const project = await readProject(pool, options.project);
    if (!project) throw new CommandFailure(`there is no project ${options.project}`);
    const deps = { reads: pool, pool, model: modelOf(config, createFetch(config.egressProxy)) };
    return readInsights(deps, { project, ...asked, now, showsAnswers: true, wantsSummary: options.summary });
  });
  const timed = <T extends { since: number; until: number }>(value: T) => ({
    ...value,
    since: new Date(value.since),
    until: new Date(value.until),
  });
  const shown = { ...timed(found), findings: found.findings.map(timed) };
  printResult(cli, options, shown, () => formatInsights(shown, { withSql: options.sql === true }));
}
