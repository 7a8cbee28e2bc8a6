import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { createResolveHost } from '@hqrelay/outbound/names/resolve-host';
import { createSender, type Sender } from '@hqrelay/outbound/send-request';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import type { ProjectDirectory } from '@hqrelay/projects/project-directory';
import type { WorkerConfig } from '../config.ts';
import { createDisableEndpoint } from '../delivery/disable-endpoint.ts';
import type { DispatchDeps } from '../delivery/dispatch.ts';
import { createReadHistory, createReadHistoryOfAnyTime } from '../delivery/read-history.ts';
import type { EndpointGate } from '../endpoint/endpoint-gate.ts';
import type { Lane } from '../intake/lanes.ts';
import { LiveFirst } from '../intake/live-first.ts';
import { createStoreHeld } from '../outgoing/hold.ts';
import { createReport } from '../report.ts';
import type { Stores } from './stores.ts';
import { createTurns } from './turns.ts';
import type { WorkerOptions } from './worker-options.ts';

/** The dependencies of handling a message. */
export function createDispatchDeps(
  config: WorkerConfig,
  { logger, registry, now, random, spans }: WorkerOptions,
  { postgres, cache, publisher, recorder }: Stores,
  { directory, gate, lanes }: { directory: ProjectDirectory; gate: EndpointGate; lanes: readonly Lane[] },
): DispatchDeps {
  return {
    inFlight: new Set(),
    liveFirst: new LiveFirst(now),
    postgres,
    publisher,
    recorder,
    readHistory: createReadHistory(postgres),
    readHistoryOfAnyTime: createReadHistoryOfAnyTime(postgres),
    storeHeld: createStoreHeld(postgres, now),
    ...createTurns(postgres, publisher, logger),
    gate,
    sender: createWorkerSender(config, lanes),
    secrets: new OpenedSecrets(parseSecretKeys(config.secretsKey), (error) =>
      logger.error({ err: error }, 'secret.unreadable'),
    ),
    findProject: (projectId, at) => directory.find(projectId, at),
    disableEndpoint: createDisableEndpoint({ postgres, cache, directory, logger, now }),
    report: createReport(logger, registry, spans),
    isTraced: spans !== undefined,
    onUnreadable: (reason) => logger.error({ reason }, 'message.unreadable'),
    monotonicNow: () => performance.now(),
    now,
    random,
  };
}

function createWorkerSender(config: WorkerConfig, lanes: readonly Lane[]): Sender {
  const inFlightMax = lanes.reduce((sum, { prefetch, prefetchMore }) => sum + prefetch + prefetchMore, 0);
  return createSender({
    policy: parsePolicy({
      allowPrivate: config.allowPrivateEndpoints,
      allowCidrs: config.allowEndpointCidrs,
    }),
    // No delivery waits for the connection of another.
    connectionsPerOrigin: inFlightMax,
    // With fewer, endpoints in turn would each find that the connection kept for them has just been closed for another's.
    idleConnectionsMax: inFlightMax,
    egressProxy: config.egressProxy,
    resolve: createResolveHost({ nameServers: config.dnsServers }),
  });
}
