import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AttackFigures, AttackOrder } from './attack.ts';

export type Attackers = {
  start: (attack: string, ports: readonly number[]) => Promise<void>;
  stop: () => Promise<AttackFigures>;
  end: () => void;
};

/** Starts the process of the attackers, from source as this one. It ends with this process. */
export async function startAttackers(): Promise<Attackers> {
  const child = fork(join(import.meta.dirname, 'attacker-process.ts'), { execArgv: process.execArgv });
  const answer = async () => (await once(child, 'message'))[0] as unknown;
  const order = (message: AttackOrder) => {
    const answered = answer();
    child.send(message);
    return answered;
  };
  await answer();
  return {
    start: async (attack, ports) => void (await order({ start: attack, ports })),
    stop: async () => (await order('stop')) as AttackFigures,
    end: () => child.disconnect(),
  };
}
