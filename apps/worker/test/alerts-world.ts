import { addAlert } from '@hqrelay/actions/alert/add-alert';
import { Cache } from '@hqrelay/cache/client';
import { Postgres } from '@hqrelay/db/postgres';
import type { AlertChannel, AlertKind } from '@hqrelay/domain/alerts/alert-kind';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { createMailer } from '@hqrelay/outbound/mail/mailer';
import { createSender } from '@hqrelay/outbound/send-request';
import { startMailServer } from '@hqrelay/testing/network/mail-server';
import { seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, inject } from 'vitest';
import { evaluateAlerts } from '../src/jobs/evaluate-alerts.ts';
import { sendAlerts } from '../src/jobs/send-alerts.ts';

export type MessageInSql = {
  id: string;
  rule_id: string | null;
  type: string;
  state: string;
  is_reminder: boolean;
  endpoint_id: string | null;
  count: number;
  reason: string;
};

export const minuteMs = 60_000;

/** A world with the alert jobs of one worker, whose clock the test moves, and a mail server. */
export async function openAlertsWorld() {
  const world = await createWorld(inject('run'));
  const mail = await startMailServer();
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const postgres = new Postgres({
    url: world.env['WORKER_DATABASE_URL'] as string,
    applicationName: 'test',
    max: 4,
    onChange: () => {},
  });
  const cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {} });
  cache.start();
  await postgres.start();
  await waitFor('Redis', () => cache.health.isUp);
  const policy = parsePolicy({ allowPrivate: true, allowCidrs: [] });
  const sender = createSender({ policy, connectionsPerOrigin: 4, idleConnectionsMax: 4 });
  const warnings: unknown[] = [];
  const logger = { info: () => {}, warn: (line: unknown) => void warnings.push(line) };
  const deps = {
    postgres,
    cache,
    logger: logger as never,
    mailer: createMailer({ smtpUrl: mail.url, from: 'HQRelay <alerts@relay.example>', deadlineMs: 5_000 }),
    sender,
    secretKeys: parseSecretKeys(world.secretsKey),
    consoleUrl: 'https://relay.example',
    operatorEmail: 'operator@relay.example' as string | undefined,
    now,
  };
  afterAll(async () => {
    await sender.close();
    await postgres.close();
    await cache.close();
    await mail.close();
    await world.close();
  });
  /** A job does nothing while Postgres counts as down, as it may for a moment on a busy machine. */
  const untilUp = () => waitFor('Postgres', () => postgres.health.isUp);
  const evaluate = async () => {
    await untilUp();
    return evaluateAlerts(deps);
  };
  const messages = async (ruleId?: string) => {
    const { rows } = await world.sql.query<MessageInSql>(
      'select * from alert_messages where $1::uuid is null or rule_id = $1 order by created_at, id',
      [ruleId ?? null],
    );
    return rows;
  };
  return {
    ...world,
    mail,
    clock,
    now,
    deps,
    warnings,
    evaluate,
    send: async () => {
      await untilUp();
      return sendAlerts(deps);
    },
    messages,
    /** Evaluates now and after the time in which occurrences are gathered. */
    async settle() {
      await evaluate();
      clock.aheadMs += 31_000;
      await evaluate();
    },
    async addRule(
      kinds: readonly AlertKind[],
      given: { channel?: AlertChannel; target?: string; projectId?: string } = {},
    ) {
      const { channel = 'email', target = 'ops@shop.example' } = given;
      const projectId = given.projectId ?? (await seedProject(world)).id;
      const added = await addAlert(
        {
          pool: world.sql,
          actor: 'cli:test',
          secretsKey: () => world.secretsKey,
          announceChange: async () => {},
        },
        policy,
        { projectId, kinds, channel, target, windowMs: 15 * minuteMs },
      );
      if (added.kind === 'refused') throw new Error(added.message);
      return { projectId, ruleId: added.value.alert.id, signingSecret: added.value.signingSecret };
    },
  };
}
