import { inPieces, latin1, requestText, type CaseMaker } from '../fuzz-case.ts';
import { headerValue, signedRequest, type Header } from '../signed-request.ts';
import type { Random } from '../random.ts';

/** Valid requests with a valid signature: bodies, encodings, ids and framings of every kind. */
export const signed: CaseMaker = {
  name: 'signed',
  make(random, { project }) {
    const { headers, body } = signedRequest(random, project);
    const [framing, framed] = random.once(2)
      ? [['Content-Length', String(body.length)] as const, body]
      : inChunks(random, body);
    const expect: Header[] = random.once(8)
      ? [['Expect', random.pick(['100-continue', '200-ok', headerValue(random)])]]
      : [];
    const id = random.once(5) ? project.id.toUpperCase() : project.id;
    const query = random.once(4) ? `?${random.text(random.int(200), 'abc=&%2f/?+')}` : '';
    const head = requestText(`POST /v1/webhooks/${id}${query} HTTP/1.1`, [...headers, framing, ...expect]);
    return {
      writes: inPieces(random, Buffer.concat([latin1(head), framed])),
      end: 'wait',
      answers: [1, 1],
      statuses: [202, 400, 401, 409, 431],
    };
  },
};

/** The body in at most 40 chunks, some with extensions, some followed by trailers. */
export function inChunks(random: Random, body: Buffer): [Header, Buffer] {
  const pieces: Buffer[] = [];
  const most = Math.max(1, Math.ceil(body.length / 20));
  for (let at = 0; at < body.length;) {
    const piece = body.subarray(at, at + 1 + random.int(most * 2));
    const extension = random.once(6) ? `;${random.text(5)}=${random.text(5)}` : '';
    const size = random.once(3)
      ? piece.length.toString(16).toUpperCase().padStart(8, '0')
      : piece.length.toString(16);
    pieces.push(latin1(`${size}${extension}\r\n`), piece, latin1('\r\n'));
    at += piece.length;
  }
  const trailers = random.once(6) ? `X-Trailer: ${random.text(9)}\r\nX-Hub-Signature-256: sha256=00\r\n` : '';
  return [['Transfer-Encoding', 'chunked'], Buffer.concat([...pieces, latin1(`0\r\n${trailers}\r\n`)])];
}
