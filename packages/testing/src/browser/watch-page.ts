import type { BrowserContext } from 'playwright-core';

/**
 * Collects what no page of a context may do: break its Content-Security-Policy, throw an error that it does not handle, open a
 * dialog of the browser, or contact another origin than `origins`. One sentence each.
 */
export async function watchPages(
  context: BrowserContext,
  origins: readonly string[],
): Promise<readonly string[]> {
  const faults: string[] = [];
  await context.exposeBinding('reportViolation', (_source, text: string) => void faults.push(text));
  // As text: a function of this file would need the types of the browser.
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    reportViolation('policy: ' + event.effectiveDirective + ' blocked ' + event.blockedURI + ' ' + event.sample))`);
  context.on(
    'weberror',
    (error) => void faults.push(`error: ${error.error().stack ?? error.error().message}`),
  );
  context.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    const isLocal = protocol === 'blob:' || protocol === 'data:' || protocol === 'about:';
    if (!isLocal && !origins.includes(origin)) faults.push(`contacted ${origin}`);
  });
  return faults;
}
