import type { Attack, AttackFigures } from './attack.ts';
import type { ProbeFigures } from './receiver-probe.ts';

/** What the genuine providers saw in one phase. */
export type Genuine = {
  sent: number;
  p99Ms: number;
  slowestMs: number;
  /** Requests that were not answered 202: another status, a reset, or no answer within 3 s. */
  refused: number;
  /** How late the event loop of the process with the genuine providers was at most, ms: their answers seem so much slower. */
  lateMs: number;
};

type Phase = Genuine & ProbeFigures & { attacked: AttackFigures };

export type PhaseResult = Phase & { attack: Attack; problems: string[] };

const p99MsMax = 250;
const p99FactorMax = 3;
const sentMin = 500;

/** What does not hold in a phase: returns a sentence for each. */
export function judgePhase(phase: Phase, calm: Genuine): string[] {
  const boundMs = Math.max(p99MsMax, p99FactorMax * calm.p99Ms);
  const { attacked } = phase;
  return [
    ...(phase.p99Ms > boundMs ? [`p99 ${phase.p99Ms} ms, more than ${boundMs} ms`] : []),
    ...(phase.refused > 0 ? [`${phase.refused} of ${phase.sent} genuine webhooks were refused`] : []),
    ...(phase.unhealthy > 0 ? [`${phase.unhealthy} health checks had no 200 within 2 s`] : []),
    ...(phase.sent < sentMin ? [`only ${phase.sent} genuine webhooks were sent`] : []),
    ...(attacked.opened === 0 || attacked.units === 0 ? ['the attackers did nothing'] : []),
  ];
}
