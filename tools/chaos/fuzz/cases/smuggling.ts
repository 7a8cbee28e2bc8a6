import { latin1, type CaseMaker } from '../fuzz-case.ts';

const inner = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';
const chunkedInner = `0\r\n\r\n${inner}`;

/** Shapes that two servers could read differently. A second answer would be that to the request inside the body. */
const shapes = [
  `Content-Length: ${chunkedInner.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunkedInner}`,
  `Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  `Content-Length: 0, ${inner.length}\r\n\r\n${inner}`,
  `Content-Length: +0\r\n\r\n${inner}`,
  `Content-Length: -1\r\n\r\n${inner}`,
  `Content-Length: 0x0\r\n\r\n${inner}`,
  `Content-Length: 1e1\r\n\r\n${inner}`,
  `Content-Length: 99999999999999999999999\r\n\r\n${inner}`,
  `Content-Length : 0\r\n\r\n${inner}`,
  `Transfer-Encoding : chunked\r\n\r\n${chunkedInner}`,
  `Transfer-Encoding: xchunked\r\n\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked, identity\r\n\r\n${chunkedInner}`,
  `Transfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n${inner}`,
  `Transfer-Encoding:\x0bchunked\r\n\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\x00\r\n\r\n${chunkedInner}`,
  `X-A: 1\r\n Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n${chunkedInner}`,
  `X-A: 1\nContent-Length: 0\n\n${inner}`,
  `X-A: 1\rContent-Length: 0\r\n\r\n${inner}`,
  `X-A: 1\r\n\tfolded\r\nContent-Length: 0, 1\r\n\r\n${inner}`,
  `: no name\r\n\r\n${inner}`,
  `X A: space in the name\r\n\r\n${inner}`,
  `X-A\r\n\r\n${inner}`,
  `\x00X: 1\r\n\r\n${inner}`,
  `Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n${inner}`,
  `Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\nx\r\n${chunkedInner}`,
  `Transfer-Encoding: chunked\r\n\r\n\r\n${chunkedInner}`,
];

export const smuggling: CaseMaker = {
  name: 'smuggling',
  make(random, { project }) {
    const path = random.pick([`/v1/webhooks/${project.id}`, '/health', '/v1/webhooks/x']);
    const text = `POST ${path} HTTP/1.1\r\nHost: a\r\n${random.pick(shapes)}`;
    return {
      writes: [latin1(text)],
      end: 'half-close',
      answers: [1, 1],
      statuses: [400, 401, 404, 413],
    };
  },
};
