import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAxe, findAccessibilityFaults } from '@hqrelay/testing/browser/accessibility';
import {
  openBrowser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from '@hqrelay/testing/browser/open-browser';
import { watchPages } from '@hqrelay/testing/browser/watch-page';
import { afterAll, expect, onTestFinished } from 'vitest';
import { openConsoleWorld } from '../console-world.ts';

export const desktop = { width: 1_280, height: 800 };
export const phone = { width: 360, height: 740 };

/** A step of a page takes a moment, and many times as long on a busy machine. */
const stepTimeoutMs = 90_000;

/** A console in this process with the built pages, and a browser, until the file's tests are over. */
export async function openBrowserWorld(
  more: Record<string, string> = {},
  browserArgs: readonly string[] = [],
) {
  const world = await openConsoleWorld(more);
  const browser = await openBrowser(browserArgs);
  afterAll(() => browser.close());
  return {
    ...world,
    browser,
    /** A browser profile of this test's own, whose pages are watched. A trace of a failed test is kept. */
    async openContext(options: BrowserContextOptions = {}, origins: readonly string[] = [world.url]) {
      const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
      context.setDefaultTimeout(stepTimeoutMs);
      await addAxe(context);
      const faults = await watchPages(context, origins);
      await closeAfterTest(context);
      return { context, faults };
    },
    async signIn(page: Page, link: string): Promise<void> {
      await page.goto(link);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL((url) => url.pathname !== '/sign-in');
    },
  };
}

/** Closes the context after the test. When it failed, its trace is kept for `npx playwright-core show-trace`. */
async function closeAfterTest(context: BrowserContext): Promise<void> {
  await context.tracing.start({ snapshots: true });
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') {
      const path = join(tmpdir(), `hqrelay-trace-${task.id}.zip`);
      await context.tracing.stop({ path });
      process.stderr.write(`the trace of "${task.name}" is in ${path}\n`);
    }
    await context.close();
  });
}

/** The open dialog. A toast is a dialog too, and may be shown beside it. */
export function dialogOf(page: Page): Locator {
  return page.getByRole('dialog').and(page.locator(':not([data-type])'));
}

/** Fails with every fault of the page that axe finds. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await findAccessibilityFaults(page)).toEqual([]);
}
