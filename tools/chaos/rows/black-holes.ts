import type { ServiceName } from '@hqrelay/services/private-services';
import { hitBoth, type Row } from '../row.ts';

const blackHoleMs = 6_000;

/** Connections stay open and nothing comes back: only the apps' own deadlines detect it. */
function blackHoleRow(service: ServiceName, title: string, duplicatesBecause?: string): Row {
  return {
    name: `blackhole-${service}`,
    fault: `${title} becomes a black hole for ${blackHoleMs / 1_000} s: connections stay open, nothing comes back`,
    ...(duplicatesBecause !== undefined && { duplicatesBecause }),
    proxied: [service],
    hit: hitBoth,
    run: async ({ proxy }, stage) => {
      await stage.fault(`${title} is a black hole`, async () => {
        proxy(service).blackHole();
        await stage.wait(blackHoleMs);
        proxy(service).release();
      });
    },
  };
}

export const blackHoles: readonly Row[] = [
  blackHoleRow('rabbitmq', 'RabbitMQ', 'confirms and acknowledgements were discarded'),
  blackHoleRow('postgres', 'Postgres'),
  blackHoleRow('redis', 'Redis'),
];
