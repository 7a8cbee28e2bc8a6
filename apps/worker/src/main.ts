import { describeConfig, exitOnConfigError } from '@hqrelay/runtime/env/env';
import { createHttpServer } from '@hqrelay/runtime/http/http-server';
import { createLogger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { createShutdown } from '@hqrelay/runtime/shutdown';
import { openSpans } from '@hqrelay/runtime/tracing/open-spans';
import { refuseToStart } from '@hqrelay/runtime/store-checks';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import type { Part } from './wiring/part.ts';
import { createWorker } from './worker.ts';

const config = (() => {
  try {
    return readConfig();
  } catch (error) {
    return exitOnConfigError(error);
  }
})();
const logger = createLogger({ name: 'worker', level: config.logLevel });
const registry = createRegistry();
const shutdown = createShutdown({ logger, deadlineMs: 45_000 });
const isDraining = () => shutdown.isDraining();
logger.info({ config: describeConfig(config) }, 'worker.starting');

const spans = await openSpans(config, { service: 'worker', logger });
if (spans) shutdown.add('spans', spans.close);
const worker = createWorker(config, {
  spans,
  logger,
  registry,
  refuse: refuseToStart(logger, 'worker'),
  now: Date.now,
  random: Math.random,
});
const server = createHttpServer(createApp({ ...worker.health, isDraining, registry }));
const listener: Part = {
  name: 'server',
  start: async () => {
    const port = await server.listen(config.workerPort);
    logger.info({ port }, 'worker.listening');
  },
  stop: async () => void (await server.close(1_000)),
};

/** The boot order; shutdown stops the same list backwards. Health answers until all deliveries have ended. */
const { stores, jobs, intake, storeChecks } = worker.parts;
const parts = [stores, listener, jobs, intake, storeChecks];
for (const { name, stop } of parts) shutdown.add(name, stop);
try {
  for (const { start } of parts) if (!isDraining()) await start();
} catch (error) {
  logger.fatal({ err: error }, 'worker.not_started');
  process.stderr.write(`worker: ${(error as Error).message}\n`);
  process.exit(1);
}
