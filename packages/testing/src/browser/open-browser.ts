import { createRequire } from 'node:module';
import { findChromium } from '@hqrelay/services/servers/chromium';
import { chromium, type Browser } from 'playwright-core';

export type { Browser, BrowserContext, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';

const require = createRequire(import.meta.url);
const launchWithinMs = 180_000;

/**
 * Debian's Chromium without a window. Playwright supports builds of its own alone, so both versions are printed: a failure after
 * an upgrade names them.
 */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  const executablePath = await findChromium((line) => process.stderr.write(`${line}\n`));
  const isRoot = process.getuid?.() === 0;
  const browser = await chromium.launch({
    executablePath,
    // A busy machine may need longer than Playwright waits.
    timeout: launchWithinMs,
    // Chromium refuses to run as root inside its sandbox.
    chromiumSandbox: !isRoot,
    args: [...args],
  });
  const { version } = require('playwright-core/package.json') as { version: string };
  process.stderr.write(`browser tests: Chromium ${browser.version()}, Playwright ${version}\n`);
  return browser;
}
