import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditRow, WebhookLogRow } from '@hqrelay/db/queries/append-audit';
import type { RetiredSecretRow } from '@hqrelay/db/queries/retired-secrets';
import { diagnoseMismatch } from '@hqrelay/domain/inbound/diagnose-mismatch';
import { formatReason } from '@hqrelay/domain/inbound/rejection-reason';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import { providerOf } from '@hqrelay/domain/providers/provider-of';
import type { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import type { InboundRequest } from './inbound-request.ts';
import type { ProjectBudget } from '../limits/project-budget.ts';

export type MismatchDiagnosesDeps = {
  secrets: OpenedSecrets;
  /** Those of several projects, at most a few of each; none while Postgres does not answer. Never rejects. */
  findRetired: (projectIds: readonly string[]) => Promise<RetiredSecretRow[]>;
  recordLater: (row: AuditRow) => void;
  mayDiagnose: ProjectBudget;
};

type Mismatch = { project: ProjectConfig; request: InboundRequest };

/** The work grows with the body; nearly all webhooks are smaller. */
const bodyBytesMax = 64 << 10;
const diagnoseAfterMs = 250;

/**
 * Finds out, after the answer, why signatures matched no secret, and records the requests with the reason. The delay and the
 * pauses between two requests keep the work out of the time of the answer and of those that follow it.
 */
export class MismatchDiagnoses {
  readonly #deps: MismatchDiagnosesDeps;
  #waiting: (Mismatch & { log: WebhookLogRow })[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: MismatchDiagnosesDeps) {
    this.#deps = deps;
  }

  /** Records the row later, with a diagnosis. False when the request is to be recorded without one. */
  add(log: WebhookLogRow, mismatch: Mismatch): boolean {
    const { project, request } = mismatch;
    if (request.body.length > bodyBytesMax) return false;
    if (!this.#deps.mayDiagnose(project.id, request.receivedAt)) return false;
    this.#waiting.push({ ...mismatch, log });
    this.#timer ??= setTimeout(() => void this.flush(), diagnoseAfterMs);
    return true;
  }

  /** Resolves when every request that was added is given to `recordLater`. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#running = this.#running.then(() => this.#diagnose(batch));
    return this.#running;
  }

  async #diagnose(batch: readonly (Mismatch & { log: WebhookLogRow })[]): Promise<void> {
    if (batch.length === 0) return;
    const { findRetired, recordLater } = this.#deps;
    const retired = await findRetired([...new Set(batch.map(({ project }) => project.id))]);
    for (const { log, project, request } of batch) {
      await nextTurn();
      const own = retired.filter(({ projectId }) => projectId === project.id);
      const reason = diagnoseMismatch({
        schemes: providerOf(project).schemes,
        settings: this.#deps.secrets.settingsOf(project),
        request,
        receivedAt: request.receivedAt,
        active: this.#deps.secrets.ofProject(project, request.receivedAt),
        retired: this.#deps.secrets.openRetired(own),
      });
      const row = reason ? { ...log, reason: formatReason(reason) } : log;
      recordLater({ kind: 'webhook', log: row, payload: null });
    }
  }
}
