import { connect, type Socket } from 'node:net';
import type { Attack, AttackFigures } from './attack.ts';

const tickMs = 10;
/** The attackers are few machines; the genuine providers have another address. */
const addresses = 8;
/** A receiver that reads no more does not fill the memory of the attackers. */
const bufferedBytesMax = 2 << 20;

/** Keeps an attack's sockets open to receivers on 127.0.0.1, at a bounded rate, and counts what they do. */
export class AttackSockets {
  readonly #attack: Attack;
  readonly #ports: readonly number[];
  readonly #open = new Set<Socket>();
  readonly #figures: AttackFigures = {
    seconds: 0,
    opened: 0,
    closedByReceiver: 0,
    units: 0,
    bytes: 0,
    cpu: 0,
    answers: {},
  };
  readonly #startedAt = performance.now();
  readonly #cpuAtStart = process.cpuUsage();
  #tickedAt = this.#startedAt;
  #opensDue = 0;
  #sendsDue = 0;
  #turn: Iterator<Socket> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(attack: Attack, ports: readonly number[]) {
    this.#attack = attack;
    this.#ports = ports;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Closes every socket and returns what the attack did. */
  stop(): AttackFigures {
    clearInterval(this.#timer);
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    const figures = { ...this.#figures, seconds, cpu: Math.round((user + system) / seconds / 10_000) };
    for (const socket of this.#open) socket.destroy();
    return figures;
  }

  #tick(): void {
    const { sockets, opensPerSecond, again } = this.#attack;
    const now = performance.now();
    const elapsedMs = now - this.#tickedAt;
    this.#tickedAt = now;
    this.#opensDue = Math.min(this.#opensDue + (opensPerSecond * elapsedMs) / 1_000, opensPerSecond / 10);
    for (; this.#opensDue >= 1 && this.#open.size < sockets; this.#opensDue -= 1) this.#connect();
    if (!again) return;
    this.#sendsDue += (this.#open.size * elapsedMs) / again.everyMs;
    for (; this.#sendsDue >= 1; this.#sendsDue -= 1) {
      const socket = this.#next();
      if (socket && !socket.connecting) again.send(this.#connectionOf(socket));
    }
  }

  /** The open sockets in turn. */
  #next(): Socket | undefined {
    const next = this.#turn?.next();
    if (next && !next.done) return next.value;
    this.#turn = this.#open.values();
    const first = this.#turn.next();
    return first.done ? undefined : first.value;
  }

  #connect(): void {
    const number = this.#figures.opened++;
    const port = this.#ports[number % this.#ports.length] as number;
    const localAddress = `127.0.1.${1 + (number % addresses)}`;
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    this.#open.add(socket);
    socket.once('connect', () => this.#attack.open(this.#connectionOf(socket)));
    socket.on('data', (data: Buffer) => this.#countAnswers(data.toString('latin1')));
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#figures.closedByReceiver += 1;
    });
  }

  #connectionOf(socket: Socket) {
    return {
      write: (data: string | Buffer) => {
        if (socket.destroyed || socket.writableLength > bufferedBytesMax) return;
        socket.write(data);
        this.#figures.bytes += data.length;
      },
      count: (units = 1) => void (this.#figures.units += units),
    };
  }

  #countAnswers(text: string): void {
    for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      this.#figures.answers[status] = (this.#figures.answers[status] ?? 0) + 1;
    }
  }
}
