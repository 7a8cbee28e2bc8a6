export type RawAnswer = { statusCode: number; headers: ReadonlyMap<string, string>; body: string };

/**
 * The answers in the bytes of a connection, without interim ones (1xx). The receiver declares the length of every body.
 * `rest`: bytes after the last complete answer.
 */
export function readAnswers(received: Buffer, isHead = false): { answers: RawAnswer[]; rest: string } {
  const answers: RawAnswer[] = [];
  let text = received.toString('latin1');
  for (;;) {
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return { answers, rest: text };
    const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
    const statusCode = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN);
    const headers = new Map(lines.map(parseLine));
    const hasBody = statusCode >= 200 && !(isHead && answers.length === 0);
    const bodyEnd = end + 4 + (hasBody ? Number(headers.get('content-length') ?? 0) : 0);
    if (!(bodyEnd <= text.length)) return { answers, rest: text };
    if (statusCode >= 200) answers.push({ statusCode, headers, body: text.slice(end + 4, bodyEnd) });
    text = text.slice(bodyEnd);
  }
}

function parseLine(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
