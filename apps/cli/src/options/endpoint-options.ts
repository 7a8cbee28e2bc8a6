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
import type { Cli } from '../cli.ts';
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
  /** False where `--no-ordering-key` is given. */
  orderingKey?: string | false;
  onDeadLetter?: 'continue' | 'hold';
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
    .option(
      '--ordering-key <key>',
      'deliver webhooks with the same value one at a time, in order: a JSON Pointer such as /order_id, or header:Name',
    )
    .addOption(
      new Option(
        '--on-dead-letter <what>',
        'after a dead letter, deliver the next webhook of its key, or hold it until that one is replayed or skipped',
      ).choices(['continue', 'hold']),
    );
  return addHeaderOptions(command)
    .option('--forward-credentials', "pass the provider's credential on, which is otherwise taken off")
    .option(
      '--ca <file>',
      'PEM of the authorities that its certificate may be of, instead of the public ones',
    )
    .option('--client-cert <file>', 'PEM of the certificate that we show it, intermediate ones after it')
    .option('--client-key <file>', 'PEM of the private key of --client-cert; it is stored encrypted');
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
