import type pg from 'pg';

/** A pool, or a connection that is in a transaction of the caller's. */
export type Queryable = pg.Pool | pg.PoolClient;
