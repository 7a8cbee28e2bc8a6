import type { JsonDocument, RequestView } from './request-view.ts';

/** What sources and templates are read from. */
export type Reading = {
  view: RequestView;
  /** The settings of the project. */
  settings: Readonly<Record<string, string>>;
  /** The items of the signature list that have a tag of their own. */
  signatureItems?: ReadonlyMap<string, string> | undefined;
  /** The element of `each` that is being judged. */
  element?: JsonDocument | undefined;
  /** Skips a JSON body that is not UTF-8: its text would stand for other bytes than those that came. */
  isExact?: boolean | undefined;
};

/**
 * The value of a source, one character for each byte; undefined when it is absent. An object, an array and null count as absent.
 */
export function readSource(reading: Reading, source: string): string | undefined {
  const colon = source.indexOf(':');
  const name = source.slice(colon + 1);
  const { view } = reading;
  switch (source.slice(0, colon)) {
    case 'header':
      return view.headers(name);
    case 'query':
      return view.queryFields()?.get(name)?.[0];
    case 'form':
      return view.form()?.get(name)?.[0];
    case 'setting':
      return settingOf(reading, name);
    case 'signature':
      return reading.signatureItems?.get(name);
    case 'json':
      return textAt(reading, name);
    case 'member':
      return firstMemberBut(documentOf(reading)?.value, name);
    default:
      return undefined;
  }
}

/** The elements of an array in the body, each as a document of its own; undefined when there is no array. */
export function elementsAt(reading: Reading, pointer: string): JsonDocument[] | undefined {
  const document = documentOf(reading);
  const array = document && valueAt(document.value, pointer);
  if (!document || !Array.isArray(array)) return undefined;
  return array.map((value: unknown, index) => ({
    value,
    literal: () => valueAt(document.literal(), `${pointer}/${index}`),
  }));
}

/** Whether the value of a JSON source is a string; other sources always are. */
export function isText(reading: Reading, source: string): boolean {
  if (!source.startsWith('json:')) return true;
  return typeof valueAt(documentOf(reading)?.value, source.slice('json:'.length)) === 'string';
}

/** The value of the JSON Pointer; undefined when there is none. */
function valueAt(document: unknown, pointer: string): unknown {
  if (pointer === '') return document;
  let value = document;
  for (const escaped of pointer.slice(1).split('/')) {
    if (typeof value !== 'object' || value === null) return undefined;
    const name = escaped.includes('~') ? escaped.replaceAll('~1', '/').replaceAll('~0', '~') : escaped;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Node reads and writes the bytes of a header as Latin-1, one character for each byte. */
export function onTheWire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function documentOf({ view, element, isExact }: Reading): JsonDocument | undefined {
  if (isExact && !view.hasUtf8Body()) return undefined;
  return element ?? view.json();
}

function settingOf({ settings }: Reading, name: string): string | undefined {
  const value = Object.hasOwn(settings, name) ? settings[name] : undefined;
  return value === undefined ? undefined : onTheWire(value);
}

function textAt(reading: Reading, pointer: string): string | undefined {
  const document = documentOf(reading);
  const value = document && valueAt(document.value, pointer);
  if (typeof value === 'string') return value.isWellFormed() ? onTheWire(value) : utf16OnTheWire(value);
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' ? String(valueAt(document?.literal(), pointer)) : undefined;
}

/** UTF-8 has no bytes for a lone surrogate: two texts that differ in one would become the same id. */
function utf16OnTheWire(text: string): string {
  return Buffer.from(text, 'utf16le').toString('latin1');
}

function firstMemberBut(value: unknown, excluded: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const name = Object.keys(value).find((key) => key !== excluded);
  return name === undefined ? undefined : onTheWire(name);
}
