import { setTimeout as wait } from 'node:timers/promises';
import type { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import type { Postgres } from '@hqrelay/db/postgres';
import type { DeliveryHistory } from '@hqrelay/db/queries/delivery-attempts';
import { readEndpoint } from '@hqrelay/db/queries/endpoints';
import type { HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { judgeAttempt, type HttpExchange } from '@hqrelay/domain/delivery/attempt-outcome';
import { restoreCredentials } from '@hqrelay/domain/inbound/forwarded-credentials';
import { newId } from '@hqrelay/domain/ids';
import { deliveryHeaders } from '@hqrelay/domain/delivery/outbound-signing';
import type { EndpointConfig, ProjectConfig } from '@hqrelay/domain/project-config';
import { maskExchange, secretsSent } from '@hqrelay/domain/secrets/mask-secrets';
import type { Sender } from '@hqrelay/outbound/send-request';
import type { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import type { ProjectLookup } from '@hqrelay/projects/project-directory';
import type { Verdict } from '@hqrelay/queue/consumer';
import { encodeMessage } from '@hqrelay/queue/messages';
import { attemptTimeoutMs } from './attempt-timeout.ts';
import { concludeAttempt, concludedBefore, type Conclusion } from './conclude-attempt.ts';
import type { EndpointGate, Entrance, HealthSignal } from '../endpoint/endpoint-gate.ts';
import { mayBeRecorded, messageOf, type Delivery } from './delivery.ts';
import type { ReadHistory } from './delivery-histories.ts';
import { hold, type HoldDeps } from '../outgoing/hold.ts';
import { park, send, sendDeadLetter, sendLater, workQueueOf } from '../outgoing/outgoing.ts';
import { recordAttempt } from './record-attempt.ts';
import type { Report } from '../report.ts';

export type DeliverDeps = HoldDeps & {
  postgres: Postgres;
  recorder: AuditRecorder;
  readHistory: ReadHistory;
  gate: EndpointGate;
  sender: Sender;
  secrets: OpenedSecrets;
  findProject: (projectId: string, now: number) => ProjectLookup | Promise<ProjectLookup>;
  /** An endpoint answered 410. While Postgres is away it stays enabled, and is disabled at its next 410. */
  disableEndpoint: (projectId: string, endpointId: string, reason: string) => Promise<void>;
  report: Report;
  now: () => number;
  random: () => number;
};

/**
 * The message that this one is a copy of may be with another worker at this very moment, as when the broker was slow and the
 * outbox quick: most endpoints have answered by then, and the attempt has its row.
 */
const otherUnderWayMs = 300;
/** What was known of a copy before it waited this long for its endpoint may not be so any more. */
const staleAfterMs = 50;
const longestInBrokerMs = 3_600_000;
const askTimeoutMs = 1_000;
const configRetryMs = 5_000;

/** Steps 3 to 6 of the worker in architecture.md, for one message of one delivery. */
export async function deliver(deps: DeliverDeps, delivery: Delivery, entrance: Entrance): Promise<Verdict> {
  const { envelope, fields } = delivery;
  const found = await deps.findProject(envelope.projectId, deps.now());
  if (found.kind === 'unavailable')
    return ackIfStored(sendLater(deps, queueOf(delivery), keptMessage(delivery), configRetryMs));
  const project = found.kind === 'found' ? found.project : undefined;
  const endpoint = project?.endpoints.find(({ id }) => id === fields.endpointId);
  if (!project || !endpoint) return parkUnlessNew(deps, delivery);

  const remainingMs = fields.notBefore - deps.now();
  const holdReason = holdReasonOf(deps, endpoint, remainingMs);
  const later = () => ackIfStored(sendLater(deps, queueOf(delivery), keptMessage(delivery), remainingMs));
  if (!holdReason && remainingMs > 0 && !mayBeRecorded(delivery)) return later();

  // Asked before it is held too: a copy must not take the place of the attempt that its delivery waits for.
  let history = await historyOf(deps, delivery);
  const isToBePosted = !holdReason && remainingMs <= 0;
  if (isToBePosted && mayBeRecorded(delivery) && history && history.lastAttemptNum < fields.attemptNum) {
    // Not as long for all: two copies at two workers would both wait in vain.
    await wait(otherUnderWayMs * (1 + deps.random()));
    history = await historyOf(deps, delivery);
  }
  if (history && isRecorded(delivery, history)) return goOnAfter(deps, delivery, endpoint, history);
  if (holdReason) return ackIfStored(hold(deps, delivery, holdReason, fields.notBefore));
  if (remainingMs > 0) return later();

  const askedAt = performance.now();
  const pass = await entrance.enter(endpoint.id, {
    bytes: delivery.body.length,
    timeoutMs: attemptTimeoutMs(endpoint),
  });
  if (pass === 'stopped') return 'requeue';
  if (pass === 'shut') return ackIfStored(hold(deps, delivery, 'breaker', fields.notBefore));
  if (mayBeRecorded(delivery) && performance.now() - askedAt > staleAfterMs) {
    history = await historyOf(deps, delivery).catch((error: unknown) => {
      pass.leave('none');
      throw error;
    });
    if (history && isRecorded(delivery, history)) {
      pass.leave('none');
      return goOnAfter(deps, delivery, endpoint, history);
    }
  }
  let signal: HealthSignal = 'none';
  const attemptedAt = deps.now();
  let exchange: HttpExchange;
  try {
    exchange = await post(deps, delivery, project, endpoint, attemptedAt);
    signal = healthSignalOf(exchange);
  } finally {
    pass.leave(signal);
  }
  // Nothing came of it: whoever gets the message next makes the same attempt.
  if (exchange.kind === 'error' && exchange.code === 'ABORTED') return 'requeue';
  const outcome = judgeAttempt(exchange, { now: deps.now(), timeoutMs: attemptTimeoutMs(endpoint) });
  const conclusion = concludeAttempt({
    outcome,
    schedule: endpoint.retrySchedule,
    attemptNum: fields.attemptNum,
    now: deps.now(),
    random: deps.random,
  });
  const attempt = { id: newId(attemptedAt), exchange, outcome, conclusion };
  deps.report(delivery, endpoint, attempt);
  const recorded = await recordAttempt(deps, delivery, attempt);
  if (recorded === 'unavailable') return 'requeue';
  // Whoever recorded it goes on, unless it had this very message before, and died: then its row says how.
  if (recorded === 'overtaken') return delivery.redelivered ? deliver(deps, delivery, entrance) : 'ack';
  return goOn(deps, delivery, endpoint, conclusion);
}

/** Whether somebody made this attempt, or the delivery is past it. */
function isRecorded({ fields }: Delivery, history: DeliveryHistory): boolean {
  return history.lastAttemptNum >= fields.attemptNum || history.finished;
}

/**
 * Whoever recorded an attempt goes on, and comes back redelivered if it crashed first. Any other message is a copy of that
 * one, and ends here.
 */
async function goOnAfter(
  deps: DeliverDeps,
  delivery: Delivery,
  endpoint: EndpointConfig,
  history: DeliveryHistory,
): Promise<Verdict> {
  const isItsOwn = delivery.redelivered && history.lastAttemptNum === delivery.fields.attemptNum;
  return isItsOwn ? goOn(deps, delivery, endpoint, concludedBefore(history)) : 'ack';
}

function holdReasonOf(
  { gate }: DeliverDeps,
  endpoint: EndpointConfig,
  remainingMs: number,
): HoldReason | undefined {
  if (!endpoint.enabled) return 'disabled';
  if (endpoint.paused) return 'paused';
  if (remainingMs > longestInBrokerMs) return 'delay';
  return remainingMs <= 0 && gate.isShut(endpoint.id) ? 'breaker' : undefined;
}

/** What is known here of a project may be seconds old: an endpoint that Postgres knows is waited for. */
async function parkUnlessNew(deps: DeliverDeps, delivery: Delivery): Promise<Verdict> {
  const { endpointId } = delivery.fields;
  const row = await deps.postgres.tryWithin(askTimeoutMs, (pool) => readEndpoint(pool, endpointId));
  if (!row || row.value)
    return ackIfStored(sendLater(deps, queueOf(delivery), keptMessage(delivery), configRetryMs));
  const reason = `there is no endpoint ${endpointId}`;
  return ackIfStored(park(deps, 'message', reason, encodeMessage(messageOf(delivery))));
}

/** Whoever was redelivered, copied or retried asks what is recorded already. Postgres down: deliver. */
async function historyOf(deps: DeliverDeps, delivery: Delivery): Promise<DeliveryHistory | undefined> {
  const { envelope, fields, receivedAt } = delivery;
  if (!mayBeRecorded(delivery) && fields.attemptNum === 1) return undefined;
  return deps.readHistory({ webhookLogId: envelope.id, deliveryId: fields.deliveryId, receivedAt });
}

async function post(
  deps: DeliverDeps,
  { envelope, fields, body }: Delivery,
  project: ProjectConfig,
  endpoint: EndpointConfig,
  now: number,
): Promise<HttpExchange> {
  const projectSecrets = deps.secrets.ofProject(project, now);
  const credentials = endpoint.forwardCredentials
    ? restoreCredentials(envelope.credentials ?? [], projectSecrets)
    : [];
  const fixedHeaders = deps.secrets.headersOf(endpoint);
  const secrets = deps.secrets.ofEndpoint(endpoint, now).map((secret) => secret.key);
  const headers = deliveryHeaders({
    providerHeaders: [...envelope.headers, ...credentials],
    fixedHeaders,
    secrets,
    webhookLogId: envelope.id,
    attemptNum: fields.attemptNum,
    correlationId: envelope.correlationId,
    body,
    now,
  });
  const exchange = await deps.sender.send({
    url: endpoint.url,
    headers,
    body,
    timeoutMs: attemptTimeoutMs(endpoint),
    tls: deps.secrets.tlsOf(endpoint),
  });
  return maskExchange(exchange, () => {
    const keys = projectSecrets.map(({ key }) => key);
    return secretsSent({ headers, fixedHeaders, credentials, secrets: [...secrets, ...keys] });
  });
}

/** What follows a recorded attempt. Done again after a crash, it changes nothing that the worker would not notice. */
async function goOn(
  deps: DeliverDeps,
  delivery: Delivery,
  endpoint: EndpointConfig,
  conclusion: Conclusion,
): Promise<Verdict> {
  const lane = delivery.fields.lane === 'replay' ? 'replay' : 'retry';
  const attemptNum = delivery.fields.attemptNum + 1;
  switch (conclusion.kind) {
    case 'delivered':
      return 'ack';
    case 'retry': {
      const { nextAttemptAt } = conclusion;
      const next = {
        ...delivery,
        fields: { ...delivery.fields, lane, attemptNum, notBefore: nextAttemptAt } as const,
      };
      const remainingMs = nextAttemptAt - deps.now();
      if (remainingMs > longestInBrokerMs) return ackIfStored(hold(deps, next, 'delay', nextAttemptAt));
      if (remainingMs <= 0) return ackIfStored(send(deps, workQueueOf(lane), messageOf(next)));
      return ackIfStored(sendLater(deps, workQueueOf(lane), messageOf(next), remainingMs));
    }
    case 'dead_letter':
      return ackIfStored(sendDeadLetter(deps, messageOf(delivery), conclusion.reason));
    case 'gone': {
      await deps.disableEndpoint(delivery.envelope.projectId, endpoint.id, conclusion.reason);
      const next = { ...delivery, fields: { ...delivery.fields, lane, attemptNum } as const };
      return ackIfStored(hold(deps, next, 'disabled', deps.now()));
    }
  }
}

/** An endpoint that refuses one request works all the same; one that is gone is disabled. */
function healthSignalOf(exchange: HttpExchange): HealthSignal {
  if (exchange.kind === 'error') return exchange.code === 'ABORTED' ? 'none' : 'fails';
  return exchange.statusCode >= 500 || exchange.statusCode === 429 ? 'fails' : 'works';
}

/** The same message again, marked as it was. */
function keptMessage(delivery: Delivery): ReturnType<typeof messageOf> {
  const { redelivered, envelope } = delivery;
  return messageOf(delivery, { copy: envelope.copy === true, redelivered });
}

function queueOf(delivery: Delivery) {
  return workQueueOf(delivery.fields.lane);
}

async function ackIfStored(work: Promise<boolean>): Promise<Verdict> {
  return (await work) ? 'ack' : 'requeue';
}
