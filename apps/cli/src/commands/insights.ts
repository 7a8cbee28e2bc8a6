import { readProject } from '@hqrelay/db/queries/projects';
import { periodAsked, periodProblem, readInsights } from '@hqrelay/insights/read-insights';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, CommandFailure, UsageError } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { pastMoment, uuid } from '../options/options.ts';
import { formatInsights } from '../output/format-insights.ts';
import { printResult } from '../output/print.ts';

type Options = { project: string; since?: number; until?: number; sql?: boolean; json?: boolean };

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
    .option('--sql', 'print the SQL of each finding too')
    .option('--json', 'print one JSON value')
    .action((options: Options) => showInsights(cli, options));
}

async function showInsights(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig(['CONSOLE_DATABASE_URL'], cli.env);
  const now = Date.now();
  const asked = periodAsked({ ...options, now });
  const problem = periodProblem(asked);
  if (problem) throw new UsageError(`--${problem}`);
  const { period, findings } = await withDatabase(config.consoleDatabaseUrl, async (pool) => {
    const project = await readProject(pool, options.project);
    if (!project) throw new CommandFailure(`there is no project ${options.project}`);
    return readInsights({ reads: pool }, { project, ...asked, now, showsAnswers: true });
  });
  const times = ({ since, until }: { since: number; until: number }) => ({
    since: new Date(since),
    until: new Date(until),
  });
  const shown = {
    ...times(period),
    findings: findings.map((finding) => ({ ...finding, ...times(finding) })),
    summary: null,
    causes: [],
    nextSteps: [],
    note: null,
  };
  printResult(cli, options, shown, () => formatInsights(shown, { withSql: options.sql === true }));
}
