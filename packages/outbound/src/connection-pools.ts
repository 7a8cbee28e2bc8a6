import { Connection, type ConnectionOptions } from './connection.ts';

type Waiter = (connection: Connection) => void;

/** The connections to one target: at most `busy` + `idle` = connectionsPerOrigin of them. */
interface Pool {
  key: string;
  options: ConnectionOptions;
  busy: number;
  idle: Connection[];
  /** In the order of arrival. */
  waiting: Set<Waiter>;
}

/** A connection for one exchange with a target, leased from `acquire` to `release`. */
export interface Lease {
  /** Returns the connection for the next exchange, or ends it when it cannot carry another. */
  release(reusable: boolean): void;
  /** Ends the connection and takes a new one in its place. */
  replace(): Connection;
}

/**
 * Keep-alive connections, pooled by target. Bounds: `connectionsPerOrigin` sockets to one target, busy and
 * idle together; exchanges past that wait. `idleConnectionsMax` idle sockets over all targets: past
 * that the longest idle one is closed. A target without connections is forgotten, so there are never more
 * pools than exchanges in flight plus idle sockets.
 */
export class ConnectionPools {
  readonly #connectionsPerOrigin: number;
  #idleConnectionsMax: number;
  readonly #pools = new Map<string, Pool>();
  /** Every idle connection with its pool, the longest idle one first. */
  readonly #idle = new Map<Connection, Pool>();

  constructor(limits: { connectionsPerOrigin: number; idleConnectionsMax: number }) {
    this.#connectionsPerOrigin = limits.connectionsPerOrigin;
    this.#idleConnectionsMax = limits.idleConnectionsMax;
  }

  /**
   * Calls `onConnection` at once, or when a connection is free. Returns a function that stops the wait; after
   * `onConnection` it does nothing.
   */
  acquire(
    key: string,
    options: () => ConnectionOptions,
    onConnection: (connection: Connection, lease: Lease) => void,
  ): () => void {
    const pool = this.#pools.get(key) ?? this.#createPool(key, options());
    const waiter: Waiter = (connection) => onConnection(connection, this.#lease(pool, connection));
    const idle = pool.idle.pop();
    if (idle) {
      this.#idle.delete(idle);
      pool.busy += 1;
      waiter(idle);
    } else if (pool.busy < this.#connectionsPerOrigin) {
      pool.busy += 1;
      waiter(this.#connect(pool));
    } else {
      pool.waiting.add(waiter);
    }
    return () => pool.waiting.delete(waiter);
  }

  /** Closes all idle connections, and from now on every connection that is released. */
  close(): void {
    this.#idleConnectionsMax = 0;
    for (const [connection, pool] of this.#idle) this.#retire(connection, pool);
  }

  #createPool(key: string, options: ConnectionOptions): Pool {
    const pool: Pool = { key, options, busy: 0, idle: [], waiting: new Set() };
    this.#pools.set(key, pool);
    return pool;
  }

  #connect(pool: Pool): Connection {
    return new Connection(pool.options, (connection) => {
      if (this.#idle.has(connection)) this.#retire(connection, pool);
    });
  }

  #lease(pool: Pool, leased: Connection): Lease {
    let connection = leased;
    return {
      release: (reusable) => {
        if (!reusable) connection.destroy();
        const [next] = pool.waiting;
        if (next) {
          pool.waiting.delete(next);
          next(reusable ? connection : this.#connect(pool));
          return;
        }
        pool.busy -= 1;
        if (reusable) this.#keep(connection, pool);
        this.#forgetIfUnused(pool);
      },
      replace: () => {
        connection.destroy();
        connection = this.#connect(pool);
        return connection;
      },
    };
  }

  #keep(connection: Connection, pool: Pool): void {
    pool.idle.push(connection);
    this.#idle.set(connection, pool);
    if (this.#idle.size <= this.#idleConnectionsMax) return;
    const [longestIdle] = this.#idle;
    if (longestIdle) this.#retire(...longestIdle);
  }

  #retire(connection: Connection, pool: Pool): void {
    this.#idle.delete(connection);
    pool.idle.splice(pool.idle.indexOf(connection), 1);
    connection.destroy();
    this.#forgetIfUnused(pool);
  }

  #forgetIfUnused(pool: Pool): void {
    if (pool.busy === 0 && pool.idle.length === 0) this.#pools.delete(pool.key);
  }
}
