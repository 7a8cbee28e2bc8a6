import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';
import { reportDirective } from '../policy/violation-reports.ts';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Scripts and styles of our own alone, and requests to this origin alone. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  `frame-ancestors 'none'; base-uri 'none'; form-action 'none'; ${reportDirective}`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>HQRelay API</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/api/docs/favicon-32x32.png">
</head>
<body>
<div id="reader"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#reader',
  validatorUrl: null,
  deepLinking: true,
  persistAuthorization: false,
});
`;

/** Swagger UI over the OpenAPI document, from files of this installation: no other host is contacted. */
export function createReader(): Router {
  const router = Router();
  router.use((_request, response, next) => {
    response.set('Content-Security-Policy', policy);
    next();
  });
  router.get('/', (_request, response) => void response.type('html').send(page));
  router.get('/start.js', (_request, response) => void response.type('js').send(start));
  for (const asset of assets) {
    router.get(`/${asset}`, (_request, response) => {
      response.sendFile(asset, { root: folder, cacheControl: false });
    });
  }
  return router;
}
