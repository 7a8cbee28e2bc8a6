// A process of its own for the attackers, so that their work does not delay the clock of the genuine providers.
import type { AttackOrder } from './attack.ts';
import { AttackSockets } from './attack-sockets.ts';
import { attacks } from './attacks.ts';

let sockets: AttackSockets | undefined;

process.on('message', (order: AttackOrder) => {
  if (order === 'stop') {
    process.send?.(sockets?.stop() ?? null);
    sockets = undefined;
    return;
  }
  const attack = attacks.find(({ name }) => name === order.start);
  if (!attack) throw new Error(`there is no attack ${order.start}`);
  sockets = new AttackSockets(attack, order.ports);
  process.send?.('started');
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
