import type { AttackFigures } from './attack.ts';
import type { AttackRun } from './run-attacks.ts';

const head = [
  'attack',
  'sockets',
  'opened/s',
  'attacks/s',
  'KiB/s',
  'answers to attackers',
  'p99 ms',
  'slowest ms',
  'sent',
  'refused',
  'health ms',
  'receiver MiB',
  'receiver CPU',
  'attackers CPU',
  'providers late ms',
  'outcome',
];

/** Lines of cells, the head first: the attackers' rates beside what genuine providers saw. */
export function attackCells({ calm, phases }: AttackRun): string[][] {
  const genuine = (each: typeof calm) =>
    [each.p99Ms, each.slowestMs, each.sent, each.refused, each.healthMs, each.receiverMib].map(String);
  const busy = (each: typeof calm, attackers: number) => [
    `${each.receiverCpu} %`,
    `${attackers} %`,
    String(each.lateMs),
  ];
  return [
    head,
    ['calm', '0', '0', '0', '0', '', ...genuine(calm), ...busy(calm, 0), ''],
    ...phases.map((phase) => [
      phase.attack.name,
      String(phase.attack.sockets),
      ...rates(phase.attacked),
      answersOf(phase.attacked),
      ...genuine(phase),
      ...busy(phase, phase.attacked.cpu),
      phase.problems.length === 0 ? 'green' : 'RED',
    ]),
  ];
}

function rates({ seconds, opened, units, bytes }: AttackFigures): string[] {
  return [opened / seconds, units / seconds, bytes / 1_024 / seconds].map((rate) => String(Math.round(rate)));
}

function answersOf({ answers, closedByReceiver }: AttackFigures): string {
  const counts = Object.entries(answers).map(([status, count]) => `${count} × ${status}`);
  return [...counts, `${closedByReceiver} closed`].join(', ');
}
