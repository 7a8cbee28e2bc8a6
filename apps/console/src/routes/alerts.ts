import { addAlert } from '@hqrelay/actions/alert/add-alert';
import { removeAlert, snoozeAlert, updateAlert } from '@hqrelay/actions/alert/change-alert';
import { testAlert } from '@hqrelay/actions/alert/test-alert';
import { readAlertMessagePage } from '@hqrelay/db/queries/alert-messages';
import { readAlertRulePage, type AlertRule } from '@hqrelay/db/queries/alert-rules';
import { consoleUrlOfAlert } from '@hqrelay/domain/alerts/alert-message';
import { z } from 'zod';
import { byCreation, readPage } from '../api/page.ts';
import { defineRoute } from '../api/route.ts';
import {
  addedAlert,
  addressGiven,
  alert,
  alertChanges,
  alertMessage,
  newAlert,
  snooze,
  testedAlert,
} from '../schemas/alert.ts';
import { pageOf, pageQuery, uuid } from '../schemas/fields.ts';
import { mapItems, mapReply } from './map-reply.ts';

const tag = 'Alerts';
const ofProject = z.strictObject({ projectId: uuid });
const one = z.strictObject({ projectId: uuid, alertId: uuid });
const names = { projectId: 'project', alertId: 'alert' } as const;
const path = '/api/v1/projects/{projectId}/alerts';
const windowDefaultSeconds = 900;

const shown = ({ kinds, windowMs, ...rule }: AlertRule) => ({
  ...rule,
  on: kinds,
  windowSeconds: windowMs / 1_000,
});

/** The path that one is removed by comes last: the operations of a Postman collection run in this order. */
export const alertRoutes = [
  defineRoute({
    method: 'get',
    path,
    name: 'listAlerts',
    summary: 'The alert rules of a project, the newest first, and whether their channels work',
    tag,
    role: 'viewer',
    params: ofProject,
    names: { projectId: 'project' },
    query: z.strictObject(pageQuery),
    statusCode: 200,
    answer: pageOf(alert).meta({ id: 'AlertPage' }),
    handle: async ({ pool }, { params: { projectId }, query }) => {
      const page = await readPage(
        { list: 'alerts', projectId },
        query,
        (request) => readAlertRulePage(pool, { projectId }, request),
        byCreation,
      );
      return mapItems(page, shown);
    },
  }),
  defineRoute({
    method: 'post',
    path,
    name: 'addAlert',
    summary: 'Add a rule: what the project is told, and where',
    tag,
    role: 'operator',
    params: ofProject,
    names: { projectId: 'project' },
    body: newAlert,
    example: { on: ['dead_letter', 'endpoint_failing'], email: 'ops@shop.example' },
    statusCode: 201,
    answer: addedAlert,
    handle: async ({ actions, policy }, { params: { projectId }, body }) => {
      const { on: kinds, windowSeconds = windowDefaultSeconds } = body;
      const address = addressGiven(body) as NonNullable<ReturnType<typeof addressGiven>>;
      const rule = { projectId, kinds, ...address, windowMs: windowSeconds * 1_000 };
      const added = await addAlert(actions, policy, rule);
      return mapReply(added, (value) => ({ ...value, alert: shown(value.alert) }));
    },
  }),
  defineRoute({
    method: 'get',
    path: `${path}/messages`,
    name: 'listAlertMessages',
    summary: 'What the rules told, the newest first, with every try to send it',
    tag,
    role: 'viewer',
    params: ofProject,
    names: { projectId: 'project' },
    query: z.strictObject({ ...pageQuery, alertId: uuid.optional().describe('Those of one rule.') }),
    statusCode: 200,
    answer: pageOf(alertMessage).meta({ id: 'AlertMessagePage' }),
    handle: async ({ pool, consoleUrl }, { params: { projectId }, query: { alertId, ...asked } }) => {
      const page = await readPage(
        { list: 'alert-messages', projectId, alertId },
        asked,
        (request) => readAlertMessagePage(pool, { projectId, ruleId: alertId }, request),
        byCreation,
      );
      return mapItems(page, (message) => ({ ...message, url: consoleUrlOfAlert(consoleUrl, message) }));
    },
  }),
  defineRoute({
    method: 'post',
    path: `${path}/{alertId}/test`,
    name: 'testAlert',
    summary: 'Send a test message; a worker sends it as it sends every other message',
    tag,
    role: 'operator',
    params: one,
    names,
    body: z.strictObject({}),
    statusCode: 202,
    answer: testedAlert,
    handle: ({ actions, now }, { params: { alertId } }) => testAlert(actions, { alertId, now: now() }),
  }),
  defineRoute({
    method: 'post',
    path: `${path}/{alertId}/snooze`,
    name: 'snoozeAlert',
    summary: 'Send nothing of a rule until then',
    tag,
    role: 'operator',
    params: one,
    names,
    body: snooze,
    example: { until: null },
    statusCode: 200,
    answer: alert,
    handle: async ({ actions }, { params: { alertId }, body: { until } }) =>
      mapReply(await snoozeAlert(actions, alertId, until === null ? null : new Date(until)), shown),
  }),
  defineRoute({
    method: 'patch',
    path: `${path}/{alertId}`,
    name: 'updateAlert',
    summary: 'Change what is given, and nothing else',
    tag,
    role: 'operator',
    params: one,
    names,
    body: alertChanges,
    example: { windowSeconds: 3_600 },
    statusCode: 200,
    answer: alert,
    handle: async ({ actions, policy }, { params: { alertId }, body }) => {
      const { on: kinds, windowSeconds } = body;
      const address = addressGiven(body);
      const changes = {
        ...(address && { address }),
        ...(kinds && { kinds: [...new Set(kinds)] }),
        ...(windowSeconds !== undefined && { windowMs: windowSeconds * 1_000 }),
      };
      return mapReply(await updateAlert({ ...actions, policy }, alertId, changes), shown);
    },
  }),
  defineRoute({
    method: 'delete',
    path: `${path}/{alertId}`,
    name: 'removeAlert',
    summary: 'End a rule for good; the rows of its messages stay',
    tag,
    role: 'operator',
    params: one,
    names,
    statusCode: 200,
    answer: alert,
    handle: async ({ actions }, { params: { alertId } }) =>
      mapReply(await removeAlert(actions, alertId), shown),
  }),
];
