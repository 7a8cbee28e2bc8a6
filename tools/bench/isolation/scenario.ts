import type { SiteOptions } from './site.ts';

/** A measured figure, its bound, and whether the bound holds. */
export type Line = { scenario: string; figure: string; value: string; bound: string; holds: boolean };

export type ScenarioOptions = Pick<SiteOptions, 'services' | 'apps'> & {
  /** A short run that shows whether the scenario works, not how fast. */
  quick: boolean;
  say: (line: string) => void;
};

export type Scenario = { name: string; run: (options: ScenarioOptions) => Promise<Line[]> };

export function ratioLine(
  scenario: string,
  figure: string,
  { before, during, atMost, atLeast }: { before: number; during: number; atMost?: number; atLeast?: number },
): Line {
  const ratio = during / before;
  const holds = atMost === undefined ? ratio >= (atLeast ?? 0) : ratio <= atMost;
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  return {
    scenario,
    figure,
    value: `${rounded(during)} / ${rounded(before)} = ${ratio.toFixed(2)}`,
    bound,
    holds,
  };
}

export function rounded(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}
