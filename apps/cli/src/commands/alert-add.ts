import { addAlert } from '@hqrelay/actions/alert/add-alert';
import type { AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { channelOf, kindList, type ChannelOptions } from '../options/alert-options.ts';
import { durationBetween, uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = ChannelOptions & { project: string; on: AlertKind[]; window: number; json?: boolean };

export function addAlertAdd(alert: Command, cli: Cli): void {
  alert
    .command('add')
    .description('tell a project by e-mail, a signed callback or Slack when something is wrong')
    .requiredOption('--project <project-id>', 'the project', uuid)
    .requiredOption('--on <kinds>', 'what to tell, such as dead_letter,endpoint_failing', kindList)
    .option('--email <address>', 'where mails go')
    .option('--webhook <url>', 'where signed callbacks go')
    .option('--slack <url>', 'an incoming webhook of Slack; stored encrypted')
    .option(
      '--window <duration>',
      'at most one message for a kind and an endpoint in this time (60s to 24h)',
      durationBetween('60s', '24h'),
      900_000,
    )
    .option('--json', 'print one JSON value')
    .action((options: Options) => add(cli, options));
}

async function add(cli: Cli, options: Options): Promise<void> {
  const { channel, target } = channelOf(options);
  const config = loadConfig([...actionVariables, 'ALLOW_PRIVATE_ENDPOINTS', 'ALLOW_ENDPOINT_CIDRS'], cli.env);
  const policy = parsePolicy({
    allowPrivate: config.allowPrivateEndpoints,
    allowCidrs: config.allowEndpointCidrs,
  });
  const { project: projectId, on: kinds, window: windowMs } = options;
  const { alert, signingSecret } = await performAction(cli, config, (deps) =>
    addAlert(deps, policy, { projectId, kinds, channel, target, windowMs }),
  );
  const added = { alertId: alert.id, ...(signingSecret !== undefined && { signingSecret }) };
  printResult(cli, options, added, () => {
    const fields = {
      'alert id': alert.id,
      on: alert.kinds.join(','),
      [channel]: alert.target,
      'signing secret': signingSecret,
    };
    const once = signingSecret === undefined ? '' : ' Its signing secret is shown this once only.';
    return `Added the alert.${once} hqrelay alert test ${alert.id} tries it.\n${formatFields(fields)}`;
  });
}
