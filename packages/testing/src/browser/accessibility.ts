import axe, { type AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

/** Makes axe available to every page of a context. A script that the page loads would be blocked by its Content-Security-Policy. */
export async function addAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript(axe.source);
}

/** One sentence for each element that breaks a rule of WCAG 2.2, levels A and AA, or a best practice. */
export async function findAccessibilityFaults(page: Page): Promise<string[]> {
  const results: AxeResults = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id} (${help}) at ${String(target)}: ${failureSummary}`),
  );
}
