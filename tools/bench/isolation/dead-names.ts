import { startNameServer } from '@hqrelay/testing/network/name-server';
import { measureBesideTrouble } from './beside-trouble.ts';
import type { Scenario } from './scenario.ts';
import { createSite } from './site.ts';

const name = 'the name servers of eight of sixteen endpoints never answer';
const endpoints = 16;
const healthy = 8;

export const deadNames: Scenario = {
  name,
  run: async (options) => {
    let silent: 'none' | 'dead' = 'none';
    const nameServer = await startNameServer((host) =>
      host.startsWith(`${silent}-`) ? 'silence' : ['127.0.0.1'],
    );
    try {
      return await measureBesideTrouble(
        {
          name,
          endpoints,
          healthy,
          // From the start, because a connection that was made before needs no name.
          createSite: (kind) => {
            silent = kind === 'trouble' ? 'dead' : 'none';
            return createSite({
              ...options,
              targets: endpoints,
              workers: 1,
              env: { DNS_SERVERS: nameServer.address },
              hostOf: (index) => `${index < healthy ? 'live' : 'dead'}-${index}.example`,
            });
          },
        },
        options,
      );
    } finally {
      await nameServer.close();
    }
  },
};
