/** Deeper levels are not indented further: a body of brackets alone would grow with the square of its size. */
const indentedLevelsMax = 40;

/**
 * JSON with line breaks and indentation, or undefined when the text is no JSON. Every token is kept as it stands: no digit, no
 * escape and no order of keys changes, and a key that comes twice stays twice.
 */
export function prettyJson(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  const out: string[] = [];
  let depth = 0;
  const newLine = () => out.push('\n', '  '.repeat(Math.min(depth, indentedLevelsMax)));
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g) ?? [];
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    const isEmpty = before === '{' || before === '[';
    if (token === '}' || token === ']') {
      depth -= 1;
      if (!isEmpty) newLine();
    } else if (isEmpty || before === ',') {
      newLine();
    }
    out.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
  }
  return out.join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
