import { z } from 'zod';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

const errorSchema = z
  .strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) })
  .meta({ id: 'Error', description: 'Why a request was not done.' });

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is not valid; the message names the field.',
  401: 'No API key or session, or one that is not active.',
  403: 'You may not do this.',
  404: 'There is no such thing, or you do not see it.',
  409: 'The state of the thing does not allow it, or the Idempotency-Key does not.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not JSON.',
  429: 'Too many requests; see Retry-After.',
  500: 'Something failed here.',
  503: 'A database does not answer; try again later.',
};

/** The OpenAPI 3.1 document of the routes, generated from the schemas that validate their requests and answers. */
export function createOpenApi(routes: readonly Route[]): Json {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, schemas) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'HQRelay',
      version: '1',
      summary: 'A self-hosted relay for inbound webhooks',
      description:
        'Names are camelCase, times ISO 8601 in UTC. Lists are pages with cursors. Every error has one form. ' +
        'An answer about a change may carry sentences for people in X-Hqrelay-Warning.',
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { session: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes,
    },
  };
}

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: hqr_…' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'hqrelay_session',
    description: 'A browser that is signed in to the console. Over TLS the name is __Host-hqrelay_session.',
  },
};

function operationOf(route: Route, schemas: Record<string, Json>): Json {
  const { method, name, summary, tag, role, params, query, body, example = {} } = route;
  const parameters = [
    ...parametersOf('path', params, schemas),
    ...parametersOf('query', query, schemas),
    ...(method === 'post' ? [idempotencyKey] : []),
  ];
  return {
    operationId: name,
    summary,
    description: `Needs the role ${role}.`,
    tags: [tag],
    ...(route.needsSession && { security: [{ session: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: isNeeded(body),
        content: { 'application/json': { schema: toSchema(body, 'input', schemas), example } },
      },
    }),
    responses: {
      [route.statusCode]: successOf(route, schemas),
      ...Object.fromEntries(refusalsOf(route).map((code) => [code, errorOf(code, schemas)])),
    },
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same request with the same key within 24 hours gets the same answer and is done once.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const wholeBytes = {
  required: true,
  description: 'The size of the whole file, also where the answer has only its first bytes.',
  schema: { type: 'integer', minimum: 0 },
};

/** Status codes of errors that an operation may answer. */
function refusalsOf({ body, method, params, refusals = [] }: Route): number[] {
  const codes = [400, 401, 403, 429, 500, 503, ...refusals];
  if (params) codes.push(404);
  if (method === 'post') codes.push(409);
  if (body) codes.push(413, 415);
  return [...new Set(codes)].sort((a, b) => a - b);
}

function parametersOf(
  place: 'path' | 'query',
  fields: z.ZodObject | undefined,
  schemas: Record<string, Json>,
): Json[] {
  if (!fields) return [];
  return Object.entries(fields.shape).map(([name, field]) => {
    const { description, ...schema } = toSchema(field as z.ZodType, 'input', schemas);
    const required = place === 'path' || !(field as z.ZodType).safeParse(undefined).success;
    return { name, in: place, required, ...(description !== undefined && { description }), schema };
  });
}

function isNeeded(body: z.ZodType): boolean {
  return !body.safeParse({}).success;
}

function successOf({ answer, summary }: Route, schemas: Record<string, Json>): Json {
  if (answer === 'attachment') {
    return {
      description: summary,
      headers: { 'X-Hqrelay-Whole-Bytes': wholeBytes },
      content: { 'application/octet-stream': { schema: {} } },
    };
  }
  if (answer === 'events') {
    return { description: summary, content: { 'text/event-stream': { schema: { type: 'string' } } } };
  }
  return { description: summary, content: jsonContent(toSchema(answer, 'output', schemas)) };
}

function errorOf(code: number, schemas: Record<string, Json>): Json {
  return { description: meanings[code], content: jsonContent(toSchema(errorSchema, 'output', schemas)) };
}

function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } };
}

/** The JSON Schema; schemas that have an id become components. Throws when two of them have the same id. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Json>): Json {
  const wrapped = z.toJSONSchema(z.object({ root: schema }), {
    io,
    override: ({ jsonSchema }) => {
      // Zod repeats a format as a long pattern.
      if (jsonSchema.format === 'date-time' || jsonSchema.format === 'uuid') delete jsonSchema.pattern;
    },
  }) as unknown as { properties: { root: Json }; $defs?: Record<string, Json> };
  for (const [id, { id: _, ...definition }] of Object.entries(wrapped.$defs ?? {})) {
    const found = withComponentRefs(definition);
    const before = schemas[id];
    if (before && JSON.stringify(before) !== JSON.stringify(found)) {
      throw new Error(`two schemas have the id ${id}`);
    }
    schemas[id] = found;
  }
  return withComponentRefs(wrapped.properties.root);
}

function withComponentRefs(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}
