import { presets } from '@hqrelay/domain/providers/presets';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { formatTable, printResult } from '../output/print.ts';

export function addProviderList(provider: Command, cli: Cli): void {
  provider
    .command('list')
    .description('the providers that the relay knows, and what their verification covers')
    .option('--json', 'print one JSON value')
    .action((options: { json?: boolean }) => {
      const list = presets.map(({ name, title, strength, evidence }) => ({
        name,
        title,
        strength,
        evidence,
      }));
      printResult(cli, options, list, () =>
        formatTable(
          ['NAME', 'PROVIDER', 'COVERS', 'EVIDENCE'],
          list.map((each) => [each.name, each.title, each.strength, each.evidence]),
          '',
        ),
      );
    });
}
