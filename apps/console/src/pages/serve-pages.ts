import type { Request, RequestHandler, Response } from 'express';
import { reportDirective } from '../policy/violation-reports.ts';
import type { Encoding, PageFile } from './page-files.ts';

const notBuilt = `<!doctype html>
<html lang="en">
<title>HQRelay</title>
<h1>The pages of the console are not built</h1>
<p>Run <code>npm run build</code>, then start the console again. The HTTP API works without them: <a href="/api/docs/">/api/docs</a>.</p>
</html>
`;

/** Paths of programs, which get an error in JSON and never a page. */
const ofPrograms = /^\/(?:api|assets|health|metrics)(?:\/|$)/;

/**
 * Serves the built pages. Every other path that a browser opens gets `index.html`, whose script shows the page of the path. The
 * policy allows scripts, styles and requests of this origin alone and no inline script; nothing asks for TLS, so that the pages
 * also work over plain HTTP in a private network.
 */
export function servePages(
  files: ReadonlyMap<string, PageFile>,
  frameAncestors: readonly string[],
): RequestHandler {
  const headers = {
    'Content-Security-Policy': pagePolicy(frameAncestors),
    // `no-referrer` would make some browsers send changes with the origin `null`.
    'Referrer-Policy': 'same-origin',
  };
  return async (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const file = files.get(request.path);
    if (file && request.path !== '/index.html') return send(request, response.set(headers), file);
    if (ofPrograms.test(request.path)) return next();
    const index = files.get('/index.html');
    if (index) return send(request, response.set(headers), index);
    if (request.accepts(['html', 'json']) !== 'html') return next();
    response.status(503).type('html').send(notBuilt);
  };
}

function pagePolicy(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
    "require-trusted-types-for 'script'",
    reportDirective,
  ].join('; ');
}

/** The smallest first. */
const encodings: readonly Encoding[] = ['br', 'gzip'];

async function send(request: Request, response: Response, file: PageFile): Promise<void> {
  const { bytes, version, extension, isImmutable, compressed } = file;
  response.set('Cache-Control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  response.type(extension);
  const encoding = encodings.find((each) => request.acceptsEncodings(each) !== false);
  const small = encoding && (await compressed(encoding));
  response.vary('Accept-Encoding');
  response.set('ETag', `"${version}${small ? `-${encoding}` : ''}"`);
  if (small) response.set('Content-Encoding', encoding);
  response.send(small ?? bytes);
}
