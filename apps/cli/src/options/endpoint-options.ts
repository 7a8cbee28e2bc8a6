import {
  checkSettings,
  type CheckedSettings,
  type UncheckedSettings,
} from '@hqrelay/actions/endpoint/check-settings';
import { type Command, Option } from 'commander';
import { parseEventTypes } from '@hqrelay/domain/inbound/event-filter';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { parseRetrySchedule } from '@hqrelay/domain/delivery/retry-schedule';
import { type Cli, UsageError } from '../cli.ts';
import { valueOf } from '../perform-action.ts';
import type { EndpointTlsOptions } from './endpoint-tls.ts';
import { addHeaderOptions, type HeaderOptions } from './fixed-headers.ts';
import { durationBetween, parsedBy } from './options.ts';

/** The options of both `endpoint add` and `endpoint update`, as commander parses them. */
export type EndpointOptions = {
  url?: string;
  events?: string[];
  retry?: string[];
  /** ms. */
  timeout?: number;
  forwardCredentials?: boolean;
  orderingKey?: unknown;
  onDeadLetter?: unknown;
} & HeaderOptions &
  EndpointTlsOptions;

export function addEndpointOptions(command: Command): Command {
  command
    .option(
      '--events <list>',
      "the event types it wants, such as 'payment.*,order.paid'; all when not given",
      parsedBy(parseEventTypes),
    )
    .option(
      '--retry <schedule>',
      'hqrelay, omise, standard-webhooks, or delays such as 1s,2s,4s (1s to 48h each)',
      parsedBy(parseRetrySchedule),
    )
    .option('--timeout <duration>', 'how long one attempt may take (1s to 30s)', durationBetween('1s', '30s'))
    .addOption(new Option('--ordering-key <key>').hideHelp())
    .addOption(new Option('--no-ordering-key').hideHelp())
    .addOption(new Option('--on-dead-letter <what>').hideHelp());
  return addHeaderOptions(command)
    .option('--forward-credentials', "pass the provider's credential on, which is otherwise taken off")
    .option(
      '--ca <file>',
      'PEM of the authorities that its certificate may be of, instead of the public ones',
    )
    .option('--client-cert <file>', 'PEM of the certificate that we show it, intermediate ones after it')
    .option('--client-key <file>', 'PEM of the private key of --client-cert; it is stored encrypted');
}

/** Throws UsageError for an option of the contract that has no effect yet: it is refused, not ignored. */
export function refuseOptionsWithoutEffect({ orderingKey, onDeadLetter }: EndpointOptions): void {
  for (const [option, value] of [
    ['--ordering-key', orderingKey],
    ['--on-dead-letter', onDeadLetter],
  ] as const) {
    if (value !== undefined) {
      throw new UsageError(`${option} has no effect yet: ordered delivery is not built, so it is refused`);
    }
  }
}

/** Returns the settings if the action accepts them. Throws UsageError with the reason if it does not. */
export function checkedSettings<Settings extends UncheckedSettings>(
  cli: Cli,
  settings: Settings,
): CheckedSettings<Settings> {
  const config = loadConfig(['ALLOW_PRIVATE_ENDPOINTS', 'ALLOW_ENDPOINT_CIDRS'], cli.env);
  const policy = parsePolicy({
    allowPrivate: config.allowPrivateEndpoints,
    allowCidrs: [...config.allowEndpointCidrs],
  });
  return valueOf(cli, checkSettings(policy, settings, Date.now()));
}
