import { z } from 'zod';

/** A rule of a page's Content-Security-Policy that a browser reports as broken. */
export type PolicyViolation = {
  /** The directive that was broken, or `other`. */
  directive: string;
  /** The path of the page, without its query. */
  page: string;
  /** What was blocked: `inline`, `eval`, or a URL without its query. */
  blocked: string;
  /** The script that caused it, and where; empty when the browser does not say. */
  source: string;
};

/** Label values of a metric: a report is written by a browser, or by a stranger who imitates one. */
const directives: ReadonlySet<string> = new Set([
  'base-uri',
  'connect-src',
  'default-src',
  'font-src',
  'form-action',
  'frame-src',
  'img-src',
  'manifest-src',
  'media-src',
  'object-src',
  'require-trusted-types-for',
  'script-src',
  'script-src-attr',
  'script-src-elem',
  'style-src',
  'style-src-attr',
  'style-src-elem',
  'worker-src',
]);

const text = z.string().catch('');
const body = z.object({
  'csp-report': z.object({
    'effective-directive': text,
    'violated-directive': text,
    'document-uri': text,
    'blocked-uri': text,
    'source-file': text,
    'line-number': z.int().optional().catch(undefined),
  }),
});

/** Reads what a browser posts to the `report-uri` of a policy; undefined when it is something else. */
export function parseViolation(posted: unknown): PolicyViolation | undefined {
  const { data } = body.safeParse(posted);
  if (!data) return undefined;
  const report = data['csp-report'];
  // Older browsers send the whole directive, and no effective one.
  const [broken = ''] = (report['effective-directive'] || report['violated-directive']).split(' ');
  const source = withoutQuery(report['source-file']);
  const line = report['line-number'];
  return {
    directive: directives.has(broken) ? broken : 'other',
    page: pathOf(report['document-uri']),
    blocked: withoutQuery(report['blocked-uri']),
    source: source === '' || line === undefined ? source : `${source}:${line}`,
  };
}

const lengthMax = 200;

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname.slice(0, lengthMax) : '';
}

/** A query may contain what a reader searched for. */
function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1).join('').slice(0, lengthMax);
}
