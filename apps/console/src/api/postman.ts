type Json = Record<string, unknown>;

type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  /** Absent where every scheme of the document is accepted. */
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: { content: { 'application/json': { example?: unknown } } };
  responses: Record<string, { content?: Record<string, unknown> }>;
};

/**
 * A Postman collection (v2.1) of an OpenAPI document: one request for each operation that takes an API key, except event streams,
 * which a collection cannot end; in folders by tag, with its example as the body. `baseUrl`, `apiKey` and the ids in paths are
 * variables: `{{projectId}}`, and `{{webhooksId}}` for `/webhooks/{id}`. Each
 * request tests that the answer has the documented status code.
 */
export function createPostmanCollection(document: Json): Json {
  const paths = document['paths'] as Record<string, Record<string, Operation>>;
  const requests = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => !isStream(operation))
      .filter(([, { security }]) => !security || security.some((scheme) => 'apiKey' in scheme))
      .map(([method, operation]) => ({
        tag: operation.tags[0],
        item: itemOf(method, path, operation),
      })),
  );
  const tags = [...new Set(requests.map(({ tag }) => tag))];
  const { title, summary } = document['info'] as Record<string, string>;
  return {
    info: {
      name: title,
      description: summary,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [{ key: 'baseUrl', value: 'http://127.0.0.1:3002' }],
    item: tags.map((name) => ({
      name,
      item: requests.filter(({ tag }) => tag === name).map(({ item }) => item),
    })),
  };
}

function isStream({ responses }: Operation): boolean {
  return Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content);
}

function itemOf(method: string, path: string, operation: Operation): Json {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const status = Object.keys(responses).find((code) => code.startsWith('2'));
  const query = parameters.filter(({ in: place }) => place === 'query');
  return {
    name: operationId,
    event: [
      {
        listen: 'test',
        script: {
          type: 'text/javascript',
          exec: [`pm.test('${operationId}', () => pm.response.to.have.status(${status}));`],
        },
      },
    ],
    request: {
      method: method.toUpperCase(),
      description: `${summary}. ${description}`,
      header: requestBody ? [{ key: 'Content-Type', value: 'application/json' }] : [],
      url: {
        raw: `{{baseUrl}}${withVariables(path)}`,
        host: ['{{baseUrl}}'],
        path: withVariables(path).slice(1).split('/'),
        query: query.map(({ name, required }) => ({ key: name, value: `{{${name}}}`, disabled: !required })),
      },
      ...(requestBody && {
        body: { mode: 'raw', raw: JSON.stringify(requestBody.content['application/json'].example ?? {}) },
      }),
    },
  };
}

/** `{id}` is named after the segment before it. */
function withVariables(path: string): string {
  return path
    .replaceAll(/([a-z-]+)\/\{id\}/g, (_, segment: string) => `${segment}/{{${camelCase(segment)}Id}}`)
    .replaceAll(/(?<!\{)\{(\w+)\}(?!\})/g, '{{$1}}');
}

function camelCase(words: string): string {
  return words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
