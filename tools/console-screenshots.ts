/**
 * Takes the screenshots of docs/console.md from a console with made-up webhooks, on private servers. Times in them are relative to
 * now; everything else is the same at each run. Build the pages first: `npm run build`.
 *
 * node --conditions=@hqrelay/source --import tsx tools/console-screenshots.ts [names of screenshots]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createApiKey } from '@hqrelay/actions/api-key/create-api-key';
import { createConsoleLink } from '@hqrelay/actions/session/create-console-link';
import { startApp } from '@hqrelay/testing/app-process';
import { openBrowser, type Browser, type Page } from '@hqrelay/testing/browser/open-browser';
import { startRunServices } from '@hqrelay/testing/run-services';
import { createWorld, type World } from '@hqrelay/testing/world';
import { makeShops, type Post, type Shop } from './screenshots/shops.ts';

const folder = new URL('../docs/images/', import.meta.url);
const bytesMax = 150_000;
const desktop = { width: 1_200, height: 760 };
const phone = { width: 360, height: 740 };
const say = (line: string) => process.stdout.write(`${line}\n`);

type Screenshot = {
  path: (shop: Shop) => string;
  /** Of the first level, on the page. */
  heading: string;
  viewport?: typeof desktop;
  colorScheme?: 'light' | 'dark';
  prepare?: (page: Page) => Promise<void>;
};

const screenshots: Readonly<Record<string, Screenshot>> = {
  overview: { path: ({ projectId }) => `/projects/${projectId}`, heading: 'Overview' },
  webhooks: {
    path: ({ projectId }) => `/projects/${projectId}/webhooks?last=24h`,
    heading: 'Webhooks',
  },
  webhook: {
    path: ({ projectId, failed }) => `/projects/${projectId}/webhooks/${failed}`,
    heading: 'payment.paid',
    viewport: { width: 1_200, height: 900 },
  },
  'webhook-phone': {
    path: ({ projectId, failed }) => `/projects/${projectId}/webhooks/${failed}`,
    heading: 'payment.paid',
    viewport: phone,
    colorScheme: 'dark',
  },
  'dead-letters': {
    path: ({ projectId }) => `/projects/${projectId}/dead-letters`,
    heading: 'Dead letters',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Replay all …' }).click();
      await page.getByText('are sent again').waitFor();
    },
  },
};

const services = await startRunServices(say);
try {
  const world = await createWorld(services.urls);
  await takeAll(world, process.argv.slice(2));
  await world.close();
} finally {
  await services.stop();
}

async function takeAll(world: World, names: readonly string[]): Promise<void> {
  const app = await startApp('console', { env: world.env });
  const browser = await openBrowser();
  try {
    await app.waitUntilReady();
    const shop = await makeShops(world.sql, await openApi(world, app.url));
    mkdirSync(folder, { recursive: true });
    for (const [name, screenshot] of Object.entries(screenshots)) {
      if (names.length > 0 && !names.includes(name)) continue;
      const image = await take(browser, screenshot, {
        shop,
        consoleUrl: app.url,
        link: await makeLink(world, app.url),
      });
      if (image.length > bytesMax) throw new Error(`${name}: ${image.length} bytes, more than ${bytesMax}`);
      writeFileSync(new URL(`console-${name}.png`, folder), image);
      say(`console-${name}.png: ${Math.round(image.length / 1_000)} kB`);
    }
  } finally {
    await browser.close();
    await app.end();
  }
}

async function openApi({ sql }: World, consoleUrl: string): Promise<Post> {
  const made = await createApiKey(
    { pool: sql, actor: 'cli:docs' },
    { name: 'docs', role: 'admin', projectId: null, hidePayloads: false, expiresInMs: 3_600_000 },
  );
  if (made.kind === 'refused') throw new Error(made.message);
  const { key } = made.value;
  return async (path, noun, body) => {
    const response = await fetch(`${consoleUrl}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as Record<typeof noun, { id: string }>)[noun].id;
  };
}

async function makeLink({ sql }: World, consoleUrl: string): Promise<string> {
  const made = await createConsoleLink(
    { pool: sql, actor: 'cli:docs' },
    {
      subject: 'eva@example.com',
      role: 'operator',
      projectId: null,
      hidePayloads: false,
      returnUrl: null,
      expiresInMs: 600_000,
      consoleUrl,
    },
  );
  if (made.kind === 'refused') throw new Error(made.message);
  return made.value.url;
}

type Place = { shop: Shop; consoleUrl: string; link: string };

async function take(
  browser: Browser,
  screenshot: Screenshot,
  { shop, consoleUrl, link }: Place,
): Promise<Buffer> {
  const { path, heading, viewport = desktop, colorScheme = 'light', prepare } = screenshot;
  const context = await browser.newContext({
    viewport,
    colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('search').waitFor();
  await page.goto(consoleUrl + path(shop));
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await prepare?.(page);
  const image = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await context.close();
  return image;
}
