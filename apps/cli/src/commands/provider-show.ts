import type { Preset } from '@hqrelay/domain/providers/preset';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { webhookUrl } from '../config.ts';
import { parsedBy } from '../options/options.ts';
import { parseProvider } from '../options/provider-options.ts';
import { formatEvidence, formatSetUp, formatStrength, urlWarnings } from '../output/format-provider.ts';
import { formatDuration, printResult } from '../output/print.ts';

export function addProviderShow(provider: Command, cli: Cli): void {
  provider
    .command('show')
    .description('how a provider signs, what to paste where, and what is special')
    .argument('<name>', 'the provider', parsedBy(parseProvider))
    .option('--json', 'print one JSON value')
    .action((preset: Preset, options: { json?: boolean }) => show(cli, preset, options));
}

function show(cli: Cli, preset: Preset, options: { json?: boolean }): void {
  const config = loadConfig(['PUBLIC_URL', 'RECEIVER_PORT'], cli.env);
  const url = webhookUrl(config, '<projectId>');
  for (const warning of urlWarnings(preset, url, config)) cli.warn(`warning: ${warning}\n`);
  printResult(cli, options, withoutPatterns(preset), () => format(preset, url));
}

function format(preset: Preset, url: string): string {
  const { settings = [], refusedInUrl = [], accepted, handshakes = [] } = preset;
  const lines = [
    `${preset.title} (--provider ${preset.name})`,
    '',
    formatStrength(preset),
    `The secret is ${preset.secret.what}.`,
    ...settings.map(({ name, what, isRequired }) => {
      return `--setting ${name}=VALUE${isRequired ? '' : ' (where needed)'}: ${what}.`;
    }),
    `An accepted webhook is answered ${accepted?.status ?? 202}.`,
    `An id is remembered for ${formatDuration(preset.idempotencyTtlSeconds * 1_000)}; another body under it is a ` +
      `${preset.changedBody === 'reject' ? 'conflict (409)' : 'duplicate'}.`,
    ...(handshakes.length > 0 ? ["The provider's check of the URL is answered by the relay."] : []),
    ...(refusedInUrl.length > 0
      ? [`The provider refuses URLs that contain ${refusedInUrl.join(', ')}.`]
      : []),
    ...preset.special,
    '',
    formatSetUp(preset, { webhookUrl: url, secret: '<secret>' }),
    '',
    `Your own code can verify ${preset.customerVerifies}.`,
    ...formatEvidence(preset),
  ];
  return lines.join('\n');
}

/** As JSON has it: a pattern is its text. */
function withoutPatterns(preset: Preset): unknown {
  const replace = (_: string, value: unknown): unknown => (value instanceof RegExp ? value.source : value);
  return JSON.parse(JSON.stringify(preset, replace)) as unknown;
}
