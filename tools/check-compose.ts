/**
 * Checks the monitoring of a running `docker compose up`: every target of Prometheus is scraped, every rule is evaluated, every
 * panel's query is answered, those in SQL as Grafana's own user. Rendering is Grafana's and is not checked.
 *
 * node --conditions=@hqrelay/source --import tsx tools/check-compose.ts [docker compose and its options]
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expressionsOf, isSql, panels, sqlOf } from '@hqrelay/testing/dashboards/panels';
import { waitFor } from '@hqrelay/testing/wait-for';

const [program = 'docker', ...options] =
  process.argv.length > 2 ? process.argv.slice(2) : ['docker', 'compose'];
const prometheus = `http://127.0.0.1:${process.env['PROMETHEUS_PORT'] ?? '9090'}/api/v1`;
const say = (line: string) => process.stdout.write(`${line}\n`);
const file = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const namesIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name]) => String(name));

await checkTargets();
await checkRules();
const projectIds = linesOf(psql('SELECT id FROM projects'));
for (const panel of panels) {
  for (const [, expression] of expressionsOf(panel)) {
    const { result } = await ask<{ result: unknown[] }>(`query?query=${encodeURIComponent(expression)}`);
    say(`${panel.title}: ${result.length} series`);
  }
  if (isSql(panel)) say(`${panel.title}: ${linesOf(psql(sqlText(panel))).length} rows`);
}

async function checkTargets(): Promise<void> {
  const jobs = namesIn(file('deploy/prometheus/prometheus.yml'), /job_name: (\S+)/g).toSorted();
  await waitFor(
    `targets of ${jobs.join(', ')} to be scraped`,
    async () => {
      type Target = { labels: { job: string }; health: string; lastError: string };
      const { activeTargets } = await ask<{ activeTargets: Target[] }>('targets?state=active');
      const up = activeTargets.filter(({ health }) => health === 'up').map(({ labels }) => labels.job);
      if (up.length < activeTargets.length || new Set(up).size < jobs.length)
        throw new Error(
          JSON.stringify(activeTargets.map(({ labels, lastError }) => [labels.job, lastError])),
        );
      return true;
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
  say(`scraped: ${jobs.join(', ')}`);
}

async function checkRules(): Promise<void> {
  const alerts = namesIn(file('deploy/prometheus/alerts.yml'), /- alert: (\w+)/g);
  type Rule = { name: string; health: string; state: string };
  const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules?type=alert');
  const rules = groups.flatMap((group) => group.rules);
  const missing = alerts.filter((name) => !rules.some((rule) => rule.name === name && rule.health === 'ok'));
  if (missing.length > 0) throw new Error(`Prometheus does not evaluate ${missing.join(', ')}`);
  const firing = rules.filter(({ state }) => state === 'firing').map(({ name }) => name);
  say(`rules: ${rules.length}, firing: ${firing.join(', ') || 'none'}`);
}

function sqlText(panel: (typeof panels)[number]): string {
  const to = new Date();
  const from = new Date(to.getTime() - 21_600_000);
  return sqlOf(panel, { from, to, projectIds, webhook: '' }) ?? '';
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(Boolean);
}

/** Runs SQL as the user of Grafana's data source, in the network of the stores. */
function psql(sql: string): string {
  const command =
    'PGUSER=hqrelay_grafana PGPASSWORD="$POSTGRES_GRAFANA_PASSWORD" psql -qAt -v ON_ERROR_STOP=1';
  return execFileSync(program, [...options, 'run', '--rm', '-T', '--no-deps', 'grafana-user', command], {
    input: sql,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${prometheus}/${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return (JSON.parse(text) as { data: T }).data;
}
