import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export type CheckedAnswer = {
  method: string;
  /** With its query. */
  path: string;
  statusCode: number;
  type: string;
  body: unknown;
};

export type CheckAnswer = (answer: CheckedAnswer) => void;

type Document = { paths: Record<string, Record<string, Operation>>; components: unknown };
type Operation = { responses: Record<string, { content: Record<string, { schema: object }> }> };

/** Throws unless the OpenAPI document describes this answer of this operation. Paths outside the document are not checked. */
export function createDocumentCheck(document: object): CheckAnswer {
  const { paths } = document as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();
  const templates = Object.keys(paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return ({ method, path, statusCode, type, body }) => {
    const [pathname = ''] = path.split('?');
    const template = templates.find(({ pattern }) => pattern.test(pathname))?.template;
    const operation = template && paths[template]?.[method.toLowerCase()];
    if (!template || !operation) return;
    const name = `${method} ${template} ${statusCode} ${type}`;
    if (!operation.responses[statusCode]?.content[type]) {
      throw new Error(`the document does not describe the answer ${name}: ${JSON.stringify(body)}`);
    }
    if (type !== 'application/json') return;
    const pointer = [
      'paths',
      template,
      method.toLowerCase(),
      'responses',
      statusCode,
      'content',
      type,
      'schema',
    ]
      .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = compiled.get(name) ?? ajv.compile({ $ref: `document#/${pointer}` });
    compiled.set(name, validate);
    if (!validate(body)) {
      throw new Error(`${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
    }
  };
}
