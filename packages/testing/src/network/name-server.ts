import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { decode, encode, RECURSION_AVAILABLE } from 'dns-packet';

/** How a name is answered: its addresses (none: the name exists without any), or a failure. */
export type NameAnswer = readonly string[] | 'does not exist' | 'server failure' | 'silence';

const notFoundCode = 3;
const serverFailureCode = 2;

/**
 * A DNS server on loopback. `answerOf` gets the name, the type asked for, and how often both were asked before.
 */
export async function startNameServer(
  answerOf: (name: string, type: 'A' | 'AAAA', askedBefore: number) => NameAnswer,
) {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (packet, { port, address }) => {
    const query = decode(packet);
    const [question] = query.questions ?? [];
    if (!question || (question.type !== 'A' && question.type !== 'AAAA')) return;
    const { name, type } = question;
    const questionText = `${type} ${name}`;
    const answer = answerOf(name, type, asked.filter((each) => each === questionText).length);
    asked.push(questionText);
    if (answer === 'silence') return;
    const code =
      answer === 'does not exist' ? notFoundCode : answer === 'server failure' ? serverFailureCode : 0;
    const addresses = Array.isArray(answer) ? answer.filter((ip) => isIPv6(ip) === (type === 'AAAA')) : [];
    const response = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: RECURSION_AVAILABLE | code,
      questions: [question],
      answers: addresses.map((data) => ({ type, name, ttl: 60, data })),
    });
    socket.send(response, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    /** As the DNS_SERVERS variable takes it. */
    address: `127.0.0.1:${socket.address().port}`,
    /** Every question so far: the type, a space, the name. */
    asked,
    close: () => new Promise<void>((resolve) => void socket.close(() => resolve())),
  };
}
