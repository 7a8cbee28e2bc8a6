/** What SQL counted of one project, for the rules that find insights. All times in ms since epoch. */
export type ProjectFacts = {
  projectId: string;
  provider: string;
  /** Null is unlimited. */
  rateLimitPerMinute: number | null;
  period: Period;
  endpoints: readonly EndpointFacts[];
  /** Requests by the status of their webhook, in the period and in the one before; `before` is null where it is not counted. */
  received: { now: RequestCounts; before: RequestCounts | null };
  /** Requests that were not accepted or came again, of the newest rows. */
  notQueued: readonly NotQueuedGroup[];
  /** Accepted webhooks that no endpoint takes, of the newest webhooks. */
  untaken: { groups: readonly UntakenGroup[]; examined: number };
  /** Null where the project has no limit or received nothing. */
  busiestMinute: { at: number; requests: number; exampleIds: readonly string[] } | null;
  /** The newest accepted webhooks of the period and the one before. */
  newestIds: readonly string[];
};

export type Period = {
  since: number;
  until: number;
  /** Where the period before begins, which has the same length. */
  previousSince: number;
};

export type RequestCounts = Readonly<
  Record<'queued' | 'duplicate' | 'conflict' | 'rate_limited' | 'rejected' | 'failed_to_queue', number>
>;

export type EndpointFacts = {
  id: string;
  url: string;
  timeoutMs: number;
  state: 'enabled' | 'paused' | 'disabled_by_relay' | 'disabled_by_person';
  /** Its consecutive failures began then; null while the last attempt delivered. */
  failingSince: number | null;
  now: AttemptSums | null;
  before: AttemptSums | null;
  failures: readonly FailureGroup[];
  /** Deliveries whose first attempt failed and whose second one is recorded, of the newest. */
  secondAttempts: { recorded: number; delivered: number; exampleIds: readonly string[] };
  /** Dead letters that were not replayed, of the newest; their age does not matter. */
  deadLetters: Waiting | null;
  /** Deliveries that are held now, by reason. */
  held: readonly (Waiting & { reason: HeldReason })[];
  /** The newest attempts that took as long as the slowest twentieth. */
  slowIds: readonly string[];
};

export type HeldReason = 'paused' | 'disabled' | 'breaker' | 'order';

/** `isCapped`: there may be more. */
export type Waiting = { count: number; isCapped: boolean; oldestAt: number; exampleIds: readonly string[] };

export type AttemptSums = {
  delivered: number;
  failed: number;
  deadLettered: number;
  /** How long attempts took, in ms. */
  p50: number;
  p95: number;
};

/** Failed attempts of an endpoint with one status code and error, of the newest of the period. */
export type FailureGroup = {
  statusCode: number | null;
  error: string | null;
  attempts: number;
  firstAt: number;
  lastAt: number;
  /** The newest first. */
  exampleIds: readonly string[];
  /** The beginning of the newest answer's body; null where there is none or it is hidden from the reader. */
  responseBody: string | null;
};

export type NotQueuedGroup = {
  status: Exclude<keyof RequestCounts, 'queued'>;
  /** The code of the reason. */
  code: string | null;
  requests: number;
  addresses: number;
  firstAt: number;
  lastAt: number;
  exampleIds: readonly string[];
};

export type UntakenGroup = { eventType: string | null; webhooks: number; exampleIds: readonly string[] };
