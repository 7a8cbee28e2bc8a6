export type BudgetRate = { perSecond: number; burst: number };

export type RejectionRates = {
  /** For one project; all ids that are no project count as one. */
  perProject: BudgetRate;
  total: BudgetRate;
  /** For projects whose requests have not been rejected lately, when others have used up the total. */
  quiet: BudgetRate;
};

/** Whether one more rejected request may leave a row and a log line. `projectId`: null where no such project is known. */
export type RejectionBudget = (projectId: string | null, now: number) => boolean;

const projectsMax = 10_000;

/**
 * Token buckets: requests that are not verified can fill neither the tables nor the log, and a flood at some projects does
 * not keep the rejections of the others off the record.
 */
export function createRejectionBudget({ perProject, total, quiet }: RejectionRates): RejectionBudget {
  const all = new Bucket(total);
  const reserve = new Bucket(quiet);
  const buckets = new Map<string, Bucket>();
  return (projectId, now) => {
    const key = projectId ?? '';
    const own = buckets.get(key) ?? new Bucket(perProject);
    buckets.delete(key);
    buckets.set(key, own);
    if (buckets.size > projectsMax) buckets.delete(buckets.keys().next().value as string);
    const isQuiet = projectId !== null && own.isFull(now);
    if (!own.take(now)) return false;
    return all.take(now) || (isQuiet && reserve.take(now));
  };
}

class Bucket {
  readonly #rate: BudgetRate;
  #tokens: number;
  #filledAt = 0;

  constructor(rate: BudgetRate) {
    this.#rate = rate;
    this.#tokens = rate.burst;
  }

  isFull(now: number): boolean {
    this.#fill(now);
    return this.#tokens === this.#rate.burst;
  }

  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #fill(now: number): void {
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, now - this.#filledAt) / 1_000) * perSecond);
    this.#filledAt = now;
  }
}
