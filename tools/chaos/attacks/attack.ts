/** An unauthenticated attack: what each of many sockets sends, over and over. */
export type Attack = {
  name: string;
  /** In a sentence, for the report. */
  what: string;
  /** Open at once, over all receivers. A socket that a receiver closes is opened again. */
  sockets: number;
  opensPerSecond: number;
  /** Sends the first bytes of a new connection. */
  open: (connection: AttackConnection) => void;
  /** Sends more, on every open connection once in so many ms. */
  again?: { everyMs: number; send: (connection: AttackConnection) => void };
};

export type AttackConnection = {
  write: (data: string | Buffer) => void;
  /** Counts one unit of the attack, such as a request or a chunk. */
  count: (units?: number) => void;
};

/** What an attack did in one phase. */
export type AttackFigures = {
  seconds: number;
  opened: number;
  closedByReceiver: number;
  units: number;
  bytes: number;
  /** What the process of the attackers used of a core, %. */
  cpu: number;
  /** How many answers had each status. */
  answers: Record<string, number>;
};

/** Orders of the run to the process of the attackers, which answers each. */
export type AttackOrder = { start: string; ports: readonly number[] } | 'stop';

/** Of a project that does not exist. */
export const webhookPath = (projectId = crypto.randomUUID()): string => `/v1/webhooks/${projectId}`;

/** A whole request with a wrong signature, to a project that does not exist. `headers`: lines that end with CRLF. */
export const forgedRequest = (headers = ''): string =>
  `POST ${webhookPath()} HTTP/1.1\r\nHost: relay\r\nContent-Length: 2\r\n` +
  `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n${headers}\r\n{}`;
