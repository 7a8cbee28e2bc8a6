import { connectionHeaders } from '@hqrelay/domain/connection-headers';

const headersMax = 20;
const valueLengthMax = 4_096;
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const ownHeaders = /^(hqrelay-)?webhook-|^x-hqrelay-|^x-correlation-id$/;

/** Why an endpoint cannot have these fixed headers; null when it can. Never repeats a value: most are credentials. */
export function problemOfHeaders(headers: readonly (readonly [string, string])[]): string | null {
  if (headers.length > headersMax) return `an endpoint has at most ${headersMax} fixed headers`;
  const names = new Set<string>();
  for (const [name, value] of headers) {
    if (!token.test(name)) return 'a fixed header has no valid name';
    const lowerCaseName = name.toLowerCase();
    const problem = names.has(lowerCaseName) ? 'is given twice' : problemOfHeader(lowerCaseName, value);
    if (problem) return `the fixed header ${name} ${problem}`;
    names.add(lowerCaseName);
  }
  return null;
}

function problemOfHeader(lowerCaseName: string, value: string): string | null {
  if (connectionHeaders.has(lowerCaseName)) return 'belongs to the connection and cannot be fixed';
  if (ownHeaders.test(lowerCaseName)) return "has a name that only the relay's own headers have";
  if (value === '' || value.length > valueLengthMax || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    return `has no usable value: expected 1 to ${valueLengthMax} Latin-1 characters, no control characters`;
  }
  return null;
}
