import { describeConfig, exitOnConfigError } from '@hqrelay/runtime/env/env';
import { createLogger } from '@hqrelay/runtime/logger';
import { createShutdown } from '@hqrelay/runtime/shutdown';
import { openSpans } from '@hqrelay/runtime/tracing/open-spans';
import { refuseToStart } from '@hqrelay/runtime/store-checks';
import { readConfig } from './config.ts';
import { createReceiver } from './receiver.ts';

const config = (() => {
  try {
    return readConfig();
  } catch (error) {
    return exitOnConfigError(error);
  }
})();
const logger = createLogger({ name: 'receiver', level: config.logLevel });
const shutdown = createShutdown({ logger, deadlineMs: 20_000 });
const spans = await openSpans(config, { service: 'receiver', logger });
if (spans) shutdown.add('spans', spans.close);
const receiver = createReceiver(config, {
  spans,
  logger,
  isDraining: () => shutdown.isDraining(),
  refuse: refuseToStart(logger, 'receiver'),
});
logger.info({ config: describeConfig(config) }, 'receiver.starting');

receiver.connect();
shutdown.add('stores', receiver.disconnect);
try {
  const { adminServer, server } = receiver;
  if (adminServer && config.receiverAdminPort !== undefined) {
    await adminServer.listen(config.receiverAdminPort);
    shutdown.add('admin server', async () => void (await adminServer.close(1_000)));
  }
  const port = await server.listen(config.receiverPort);
  shutdown.add('server', async () => {
    const { connectionsCut } = await server.close(10_000);
    if (connectionsCut) logger.warn('receiver.connections_cut');
  });
  logger.info({ port }, 'receiver.listening');
} catch (error) {
  logger.fatal({ err: error }, 'receiver.not_started');
  process.stderr.write(`receiver: ${(error as Error).message}\n`);
  process.exit(1);
}
