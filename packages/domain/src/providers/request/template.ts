import { crc32 } from 'node:zlib';
import { isText, onTheWire, readSource, type Reading } from './read-source.ts';

/** What the tokens stand for that are not sources. */
export type TemplateValues = Reading & {
  /** The timestamp as it was sent. */
  ts?: string | undefined;
  /** One character for each byte. */
  secret?: string | undefined;
  hmac?: string;
};

const wholeTokens = [
  'body',
  'ts',
  'url',
  'method',
  'secret',
  'crc32',
  'sortedForm',
  'bodySha256',
  'hmac',
] as const;
type WholeToken = (typeof wholeTokens)[number];

/** Fixed text, or a token. */
type Part =
  | { kind: 'text'; text: string }
  | { kind: 'source'; source: string; isOptional: boolean }
  | { kind: WholeToken };

const cache = new Map<string, readonly Part[]>();
const cachedMax = 2_000;

/** Calls `take` with each piece of the template, text as one character for each byte; false when the template is void. */
export function renderPieces(
  template: string,
  values: TemplateValues,
  take: (piece: string | Buffer) => void,
): boolean {
  let isComplete = true;
  for (const part of partsOf(template)) {
    const piece = pieceOf(part, values);
    if (piece === undefined || (piece === '' && part.kind === 'source' && !part.isOptional))
      isComplete = false;
    else take(piece);
  }
  return isComplete;
}

/** The text of the template, one character for each byte; undefined when it is void. `textOnly`: a JSON number counts as absent. */
export function renderText(
  template: string,
  values: TemplateValues,
  { textOnly = false } = {},
): string | undefined {
  if (textOnly && !partsOf(template).every((part) => part.kind !== 'source' || isText(values, part.source))) {
    return undefined;
  }
  let text = '';
  const isComplete = renderPieces(template, values, (piece) => {
    text += typeof piece === 'string' ? piece : piece.toString('latin1');
  });
  return isComplete ? text : undefined;
}

/** The first source of the template that is needed and absent. */
export function absentSource(template: string, values: TemplateValues): string | undefined {
  for (const part of partsOf(template)) {
    if (part.kind === 'source' && !part.isOptional && !readSource(values, part.source)) return part.source;
  }
  return undefined;
}

function partsOf(template: string): readonly Part[] {
  let parts = cache.get(template);
  if (!parts) {
    parts = parseTemplate(template);
    if (cache.size >= cachedMax) cache.clear();
    cache.set(template, parts);
  }
  return parts;
}

/** Why a template cannot be used; undefined when it can. */
export function templateProblem(template: string): string | undefined {
  try {
    parseTemplate(template);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Throws RangeError for an unknown token or a stray brace. */
function parseTemplate(template: string): Part[] {
  return template.split(/(\{[^{}]*\})/).flatMap((text): Part[] => {
    if (text === '') return [];
    if (!text.startsWith('{')) {
      if (/[{}]/.test(text)) throw new RangeError(`a stray brace in the template ${template}`);
      return [{ kind: 'text', text: onTheWire(text) }];
    }
    const token = text.slice(1, -1);
    const whole = wholeTokens.find((name) => name === token);
    if (whole) return [{ kind: whole }];
    const isOptional = token.endsWith('?');
    const source = isOptional ? token.slice(0, -1) : token;
    if (!/^(?:header:[^A-Z]+|(?:query|form|setting|signature|member|json):.+)$/.test(source)) {
      throw new RangeError(`the template ${template} has the unknown token ${text}`);
    }
    return [{ kind: 'source', source, isOptional }];
  });
}

function pieceOf(part: Part, values: TemplateValues): string | Buffer | undefined {
  const { view } = values;
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'source':
      return readSource(values, part.source) ?? (part.isOptional ? '' : undefined);
    case 'body':
      return view.body;
    case 'ts':
    case 'secret':
    case 'hmac':
      return values[part.kind];
    case 'url':
    case 'method':
      return view[part.kind];
    case 'crc32':
      return String(crc32(view.body));
    case 'bodySha256':
      return view.bodySha256Hex();
    case 'sortedForm':
      return sortedForm(values);
  }
}

/** Names in order, each with its distinct values in order. */
function sortedForm({ view }: TemplateValues): string | undefined {
  const fields = view.form();
  if (!fields) return undefined;
  return [...fields.keys()]
    .toSorted()
    .flatMap((name) => [...new Set(fields.get(name))].toSorted().map((value) => name + value))
    .join('');
}
