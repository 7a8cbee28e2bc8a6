import type { Attack } from '../attack.ts';

/** Connections that send nothing. */
export const connectionFlood: Attack = {
  name: 'connection-flood',
  what: 'connections that send nothing',
  sockets: 6_000,
  opensPerSecond: 600,
  open: ({ count }) => count(),
};
