import type { ActionDeps, ActionResult } from '@hqrelay/actions/action';
import {
  archiveEndpoint,
  disableEndpoint,
  enableEndpoint,
  pauseEndpoint,
  resumeEndpoint,
} from '@hqrelay/actions/endpoint/change-endpoint';
import type { Endpoint } from '@hqrelay/db/queries/endpoints';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { integerBetween, label, uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = { reason?: string; rate?: number; json?: boolean };

type Switch = {
  name: string;
  description: string;
  action: (deps: ActionDeps, endpointId: string, options: Options) => Promise<ActionResult<Endpoint>>;
  done: string;
  /** Releases held deliveries. */
  releases?: true;
};

const switches: readonly Switch[] = [
  {
    name: 'pause',
    description: 'hold deliveries until the endpoint is resumed',
    action: pauseEndpoint,
    done: 'is paused: its deliveries are held',
  },
  {
    name: 'resume',
    description: 'end a pause; held deliveries are released, oldest first, beside new ones',
    action: (deps, id, { rate }) => resumeEndpoint(deps, id, { releaseRate: rate }),
    done: 'is not paused any more',
    releases: true,
  },
  {
    name: 'enable',
    description: 'owe it webhooks again; held deliveries are released, oldest first',
    action: (deps, id, { rate }) => enableEndpoint(deps, id, { releaseRate: rate }),
    done: 'is enabled',
    releases: true,
  },
  {
    name: 'disable',
    description: 'owe it no new webhooks, and hold the deliveries that it is owed already',
    action: (deps, id, { reason }) => disableEndpoint(deps, id, reason ?? 'disabled by an operator'),
    done: 'is disabled: it is owed no new webhooks',
  },
  {
    name: 'archive',
    description: 'disable and hide it, for good; what it is owed stays held and in the books',
    action: archiveEndpoint,
    done: 'is archived: nothing is sent to it any more',
  },
];

/** The most deliveries that one worker releases to one endpoint, per second. */
const releaseRateMax = 2_000;

/** `endpoint pause`, `resume`, `enable`, `disable` and `archive`. */
export function addEndpointSwitches(endpoint: Command, cli: Cli): void {
  for (const { name, description, action, done, releases } of switches) {
    const command = endpoint
      .command(name)
      .description(description)
      .argument('<endpoint-id>', 'the endpoint', uuid);
    if (name === 'disable') {
      command.option('--reason <text>', 'what endpoint list shows', label(200));
    }
    if (releases) {
      command.option(
        '--rate <per-second>',
        'how fast held deliveries are released; stays until it is changed (default: 100)',
        integerBetween(1, releaseRateMax),
      );
    }
    command.option('--json', 'print one JSON value').action(async (endpointId: string, options: Options) => {
      const config = loadConfig(actionVariables, cli.env);
      const saved = await performAction(cli, config, (deps) => action(deps, endpointId, options));
      const rate = releases ? ` Held deliveries go at ${saved.releaseRate} a second.` : '';
      printResult(cli, options, saved, () => `The endpoint ${redactUrl(saved.url)} ${done}.${rate}`);
    });
  }
}
