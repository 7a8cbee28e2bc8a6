export type BudgetRate = { perSecond: number; burst: number };

export type ProjectRates = {
  /** For one project; all ids that are no project count as one. */
  perProject: BudgetRate;
  total: BudgetRate;
  /** For projects that have used nothing of their own lately, when others have used up the total. */
  quiet?: BudgetRate;
};

/** Whether a project may use one more, such as a row of a rejected request. `projectId`: null where no such project is known. */
export type ProjectBudget = (projectId: string | null, now: number) => boolean;

const projectsMax = 10_000;

/**
 * Token buckets for rows, log lines and work that senders can cause: bounded for each project and in total, and a flood at some
 * projects leaves room for the others.
 */
export function createProjectBudget({ perProject, total, quiet }: ProjectRates): ProjectBudget {
  const all = new Bucket(total);
  const reserve = quiet && new Bucket(quiet);
  const buckets = new Map<string, Bucket>();
  return (projectId, now) => {
    const key = projectId ?? '';
    const own = buckets.get(key) ?? new Bucket(perProject);
    buckets.delete(key);
    buckets.set(key, own);
    if (buckets.size > projectsMax) buckets.delete(buckets.keys().next().value as string);
    const isQuiet = projectId !== null && own.isFull(now);
    if (!own.take(now)) return false;
    return all.take(now) || (isQuiet && reserve?.take(now) === true);
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
