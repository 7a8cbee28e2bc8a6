import type { GeneratorResult } from '../children.ts';
import type { Memory, RateLine } from './site.ts';

type Answers = Pick<GeneratorResult, 'refused' | 'errors'>;

/** Nothing was refused, and no request failed. */
export function nothingRefused(...results: readonly Answers[]): RateLine {
  const refused = results.reduce((sum, result) => sum + result.refused, 0);
  const errors = results.reduce((sum, result) => sum + result.errors, 0);
  return {
    figure: 'refused, and failed requests',
    value: `${refused}, ${errors}`,
    bound: '0, 0',
    holds: refused + errors === 0,
  };
}

/** The share of the requests of an open load that was sent and accepted: a load that falls behind is another load. */
export function acceptedRate(
  figure: string,
  accepted: number,
  load: { perSecond: number; seconds: number },
): RateLine {
  return {
    figure,
    value: `${Math.round(accepted / load.seconds)}/s`,
    bound: `${load.perSecond}/s`,
    holds: accepted >= load.perSecond * load.seconds * 0.99,
  };
}

/** Every webhook that was answered 202 has a delivered attempt, by its id. */
export function allDelivered(undelivered: number): RateLine {
  return {
    figure: '202s without a delivery',
    value: String(undelivered),
    bound: '0',
    holds: undelivered === 0,
  };
}

/** The most that each process held. */
export function memoryLines({ receiverPeak, workerPeak }: Memory): RateLine[] {
  return [atMost('receiver, peak', receiverPeak, 200, 'MiB'), atMost('worker, peak', workerPeak, 300, 'MiB')];
}

export function atMost(figure: string, value: number, max: number, unit: string): RateLine {
  return { figure, value: `${Math.round(value)} ${unit}`, bound: `≤ ${max} ${unit}`, holds: value <= max };
}

/** A figure without a bound. */
export function shown(figure: string, value: string): RateLine {
  return { figure, value, bound: '', holds: true };
}
