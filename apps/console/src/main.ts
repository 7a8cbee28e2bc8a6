import { describeConfig, exitOnConfigError } from '@hqrelay/runtime/env/env';
import { createLogger } from '@hqrelay/runtime/logger';
import { createShutdown } from '@hqrelay/runtime/shutdown';
import { readConfig } from './config.ts';
import { createConsole } from './console.ts';

const config = (() => {
  try {
    return readConfig();
  } catch (error) {
    return exitOnConfigError(error);
  }
})();
const logger = createLogger({ name: 'console', level: config.logLevel });
const shutdown = createShutdown({ logger, deadlineMs: 15_000 });
const relayConsole = createConsole(config, { logger, isDraining: () => shutdown.isDraining() });
logger.info({ config: describeConfig(config) }, 'console.starting');

relayConsole.connect();
shutdown.add('stores', relayConsole.disconnect);
try {
  const port = await relayConsole.server.listen(config.consolePort);
  shutdown.add('server', async () => void (await relayConsole.server.close(10_000)));
  logger.info({ port }, 'console.listening');
} catch (error) {
  logger.fatal({ err: error }, 'console.not_started');
  process.stderr.write(`console: ${(error as Error).message}\n`);
  process.exit(1);
}
