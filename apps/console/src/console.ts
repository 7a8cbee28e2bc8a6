import { consoleUrlOf } from '@hqrelay/actions/session/create-console-link';
import { deleteOldApiAnswers } from '@hqrelay/db/queries/api-answers';
import { deleteOldConsoleLinks } from '@hqrelay/db/queries/console-links';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { modelOf } from '@hqrelay/insights/read-insights';
import { createResolveHost } from '@hqrelay/outbound/names/resolve-host';
import { createFetch } from '@hqrelay/outbound/proxied-fetch';
import { createSender } from '@hqrelay/outbound/send-request';
import type { HealthDeps } from '@hqrelay/runtime/http/health';
import { createHttpServer, type HttpServer } from '@hqrelay/runtime/http/http-server';
import type { Logger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import type { ApiDeps } from './api/request-context.ts';
import { createApp } from './app.ts';
import type { ConsoleConfig } from './config.ts';
import { LiveFeed } from './live/live-feed.ts';
import { createReport } from './report.ts';
import { createStores, type Stores } from './stores.ts';

export type Console = {
  /** Connects to the stores. A store that is unavailable does not keep the console from starting. */
  connect: () => void;
  server: HttpServer;
  disconnect: () => Promise<void>;
};

const deleteOldRowsEveryMs = 3_600_000;

/** Wires one console. Nothing connects or listens yet. */
export function createConsole(
  config: ConsoleConfig,
  { logger, isDraining }: { logger: Logger; isDraining: () => boolean },
): Console {
  const registry = createRegistry();
  const stores = createStores(config, logger);
  const api = createApiDeps(config, stores, { logger, report: createReport(logger, registry) });
  const health = { ...healthOf(stores), isDraining, registry };
  const server = createHttpServer(
    createApp({ api, health, trustProxy: config.trustProxy, frameAncestors: config.consoleFrameAncestors }),
  );
  let deleting: NodeJS.Timeout | undefined;
  return {
    connect() {
      void stores.postgres.start();
      void stores.reads.start();
      stores.cache.start();
      deleting = setInterval(() => void deleteOldRows(stores, logger), deleteOldRowsEveryMs);
    },
    server: {
      ...server,
      close(deadlineMs) {
        // No stream ends by itself within the deadline.
        api.live.close();
        return server.close(deadlineMs);
      },
    },
    async disconnect() {
      clearInterval(deleting);
      await Promise.all([
        api.sender.close(),
        stores.cache.close(),
        stores.reads.close(),
        stores.postgres.close(),
      ]);
    },
  };
}

function createApiDeps(
  config: ConsoleConfig,
  stores: Stores,
  { logger, report }: Pick<ApiDeps, 'logger' | 'report'>,
): ApiDeps {
  const policy = parsePolicy({
    allowPrivate: config.allowPrivateEndpoints,
    allowCidrs: config.allowEndpointCidrs,
  });
  return {
    stores,
    policy,
    sender: createSender({
      policy,
      egressProxy: config.egressProxy,
      resolve: createResolveHost({ nameServers: config.dnsServers }),
      connectionsPerOrigin: 4,
      idleConnectionsMax: 1,
    }),
    secretsKey: config.secretsKey,
    cookie: { consoleUrl: config.consoleUrl, isEmbedded: config.consoleFrameAncestors.length > 0 },
    consoleUrl: consoleUrlOf(config),
    webhookBaseUrl: config.publicUrl ?? `http://127.0.0.1:${config.receiverPort}`,
    deliveryTimeoutMs: config.deliveryTimeoutMs,
    configCacheTtlSeconds: config.configCacheTtlSeconds,
    model: modelOf(config, createFetch(config.egressProxy)),
    live: new LiveFeed({ reads: stores.reads.pool, pool: stores.postgres.pool, logger, now: Date.now }),
    report,
    logger,
    now: Date.now,
  };
}

/** Ready while it can look up keys and take changes. Redis only makes a change visible sooner. */
function healthOf({
  postgres,
  reads,
  cache,
}: Stores): Pick<HealthDeps, 'dependencies' | 'isReady' | 'warnings'> {
  return {
    dependencies: {
      postgres: () => (reads.health.isUp ? postgres.health : reads.health),
      redis: () => cache.health,
    },
    isReady: (states) => states.postgres === 'up',
    warnings: () => [],
  };
}

async function deleteOldRows({ postgres }: Stores, logger: Logger): Promise<void> {
  await deleteOldApiAnswers(postgres.pool).catch((error: unknown) =>
    logger.warn({ err: error }, 'api_answers.not_deleted'),
  );
  await deleteOldConsoleLinks(postgres.pool).catch((error: unknown) =>
    logger.warn({ err: error }, 'console_links.not_deleted'),
  );
}
