import { inTransaction } from '@hqrelay/db/in-transaction';
import type pg from 'pg';

/** Who asks for an action: `cli:<user of the system>`, `key:<id of an API key>` or `session:<subject>`. */
export type Actor = `cli:${string}` | `key:${string}` | `session:${string}`;

export type ActionDeps = {
  pool: pg.Pool;
  actor: Actor;
  /** Announces a committed change to receivers and workers. It does not throw: the change is not undone. */
  announceChange: (projectId: string, change: { isNew: boolean }) => Promise<void>;
};

/** The dependencies of an action that stores a secret. */
export type SealingDeps = ActionDeps & { secretsKey: () => string };

type Noun =
  | 'project'
  | 'secret'
  | 'endpoint'
  | 'webhook'
  | 'dead_letter'
  | 'replay_job'
  | 'api_key'
  | 'console_link'
  | 'session'
  | 'delivery'
  | 'alert';

/** Why an action was refused; the message is a sentence without a secret. */
export type Refusal = {
  kind: 'refused';
  code:
    | `${Noun}.not_found`
    | `${'project' | 'endpoint'}.archived`
    | 'project.invalid_settings'
    | `endpoint.invalid_${'url' | 'ordering_key' | 'headers' | 'certificates'}`
    | 'alert.invalid_target'
    | 'secret.too_short'
    | 'secret.invalid_form'
    | 'secret.unreadable'
    | 'endpoint.other_project'
    | 'webhook.owes_nothing'
    | 'webhook.not_replayable'
    | 'webhook.not_erasable'
    | 'webhook.waiting'
    | 'replay_job.ended'
    | `console_link.${'expired' | 'used' | 'invalid_return_url'}`
    | `delivery.${'ended' | 'endpoint_stopped' | 'behind_another'}`;
  message: string;
};

export type Done<T> = {
  kind: 'done';
  value: T;
  /** Sentences about consequences that an operator may not expect. */
  warnings: string[];
};

export type ActionResult<T> = Done<T> | Refusal;

export function done<T>(value: T, warnings: string[] = []): Done<T> {
  return { kind: 'done', value, warnings };
}

export function refused(code: Refusal['code'], message: string): Refusal {
  return { kind: 'refused', code, message };
}

/** Runs an action in one transaction; what changes a project's configuration is announced after the commit. */
export async function runAction<T>(
  deps: ActionDeps,
  work: (client: pg.PoolClient) => Promise<ActionResult<T>>,
  projectIdOf: (value: T) => string,
): Promise<ActionResult<T>> {
  const result = await inTransaction(deps.pool, work);
  if (result.kind === 'done') await deps.announceChange(projectIdOf(result.value), { isNew: false });
  return result;
}
