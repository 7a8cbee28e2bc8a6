import { addEndpoint } from '@hqrelay/actions/endpoint/add-endpoint';
import { updateEndpointSettings } from '@hqrelay/actions/endpoint/change-endpoint';
import { checkSettings } from '@hqrelay/actions/endpoint/check-settings';
import { readEndpointHealth, type EndpointHealth } from '@hqrelay/db/queries/endpoint-health';
import { readEndpointPage } from '@hqrelay/db/queries/endpoint-list';
import { readEndpoint, type Endpoint } from '@hqrelay/db/queries/endpoints';
import { parseRetrySchedule } from '@hqrelay/domain/delivery/retry-schedule';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { z } from 'zod';
import { byCreation, readPage } from '../api/page.ts';
import type { Caller } from '../api/access/caller.ts';
import { defineRoute, refuse, reply, type ApiRefusal } from '../api/route.ts';
import {
  addedEndpoint,
  endpoint,
  endpointChanges,
  endpointWithHealth,
  newEndpoint,
} from '../schemas/endpoint.ts';
import { pageOf, pageQuery, queryFlag, uuid } from '../schemas/fields.ts';
import { mapItems, mapReply } from './map-reply.ts';
import { defined } from './projects.ts';

const tag = 'Endpoints';
const ofProject = z.strictObject({ projectId: uuid });
const one = z.strictObject({ projectId: uuid, endpointId: uuid });
const names = { projectId: 'project', endpointId: 'endpoint' } as const;
const path = '/api/v1/projects/{projectId}/endpoints';

/** Query parameters of a URL may be credentials. */
export const shown = <Row extends Pick<Endpoint, 'url'>>(row: Row): Row => ({
  ...row,
  url: redactUrl(row.url),
});

export const endpointRoutes = [
  defineRoute({
    method: 'get',
    path,
    name: 'listEndpoints',
    summary: 'The endpoints of a project, the newest first',
    tag,
    role: 'viewer',
    params: ofProject,
    names: { projectId: 'project' },
    query: z.strictObject({
      ...pageQuery,
      archived: queryFlag.optional().describe('true lists archived ones too.'),
    }),
    statusCode: 200,
    answer: pageOf(endpointWithHealth).meta({ id: 'EndpointPage' }),
    handle: async ({ pool }, { params: { projectId }, query: { archived = false, ...asked } }) => {
      const filter = { projectId, archivedToo: archived };
      const page = await readPage(
        { list: 'endpoints', ...filter },
        asked,
        (request) => readEndpointPage(pool, filter, request),
        byCreation,
      );
      const ids = page.kind === 'done' ? page.value.items.map(({ id }) => id) : [];
      const health = await readEndpointHealth(pool, ids);
      return mapItems(page, (row) => ({ ...shown(row), ...(health.get(row.id) as EndpointHealth) }));
    },
  }),
  defineRoute({
    method: 'post',
    path,
    name: 'addEndpoint',
    summary: 'Add an endpoint, with the secret that its deliveries are signed with',
    tag,
    role: 'operator',
    params: ofProject,
    names: { projectId: 'project' },
    body: newEndpoint,
    example: { url: 'https://shop.example/hooks', eventTypes: ['payment.*'] },
    statusCode: 201,
    answer: addedEndpoint,
    handle: async ({ actions, policy, deliveryTimeoutMs, now, caller }, { params: { projectId }, body }) => {
      const refused = refuseNewTarget(caller, body);
      if (refused) return refused;
      const settings = {
        url: body.url,
        eventTypes: body.eventTypes ?? [],
        retrySchedule: body.retrySchedule ?? parseRetrySchedule('hqrelay'),
        timeoutMs: body.timeoutMs ?? deliveryTimeoutMs,
        orderingKey: body.orderingKey ?? null,
        onDeadLetter: body.onDeadLetter ?? 'continue',
        forwardCredentials: body.forwardCredentials ?? false,
        fixedHeaders: pairs(body.headers) ?? null,
        caCertificates: body.caCertificates ?? null,
        clientCertificate: body.clientCertificate ?? null,
      };
      const checked = checkSettings(policy, settings, now());
      if (checked.kind === 'refused') return checked;
      const added = await addEndpoint(actions, projectId, checked.value);
      return mapReply(added, (value) => ({ ...value, endpoint: shown(value.endpoint) }));
    },
  }),
  defineRoute({
    method: 'get',
    path: `${path}/{endpointId}`,
    name: 'getEndpoint',
    summary: 'One endpoint',
    tag,
    role: 'viewer',
    params: one,
    names,
    statusCode: 200,
    answer: endpointWithHealth,
    handle: async ({ pool }, { params: { endpointId } }) => {
      const health = await readEndpointHealth(pool, [endpointId]);
      const found = (await readEndpoint(pool, endpointId)) as Endpoint;
      return reply({ ...shown(found), ...(health.get(endpointId) as EndpointHealth) });
    },
  }),
  defineRoute({
    method: 'patch',
    path: `${path}/{endpointId}`,
    name: 'updateEndpoint',
    summary: 'Change what is given, and nothing else',
    tag,
    role: 'operator',
    params: one,
    names,
    body: endpointChanges,
    example: { timeoutMs: 5_000 },
    refusals: [409],
    statusCode: 200,
    answer: endpoint,
    handle: async ({ actions, policy, now, caller }, { params: { endpointId }, body }) => {
      const refused = refuseNewTarget(caller, body);
      if (refused) return refused;
      const { headers, ...others } = body;
      const fixedHeaders = pairs(headers);
      const changes = { ...defined(others), ...(fixedHeaders !== undefined && { fixedHeaders }) };
      const checked = checkSettings(policy, changes, now());
      if (checked.kind === 'refused') return checked;
      return mapReply(await updateEndpointSettings(actions, endpointId, checked.value), shown);
    },
  }),
];

/** Where an endpoint sends payloads, and how it proves itself. */
const targetFields = ['url', 'headers', 'forwardCredentials', 'caCertificates', 'clientCertificate'] as const;

/** A caller from whom payloads are hidden does not decide where they are sent. */
function refuseNewTarget(
  { hidePayloads }: Caller,
  body: Partial<Record<(typeof targetFields)[number], unknown>>,
): ApiRefusal | undefined {
  const given = targetFields.filter((name) => body[name] !== undefined);
  if (!hidePayloads || given.length === 0) return undefined;
  const message = `payloads are hidden from you: you cannot say where they are sent (${given.join(', ')})`;
  return refuse(403, 'access.hides_payloads', message);
}

function pairs(
  headers: readonly { name: string; value: string }[] | null | undefined,
): [string, string][] | null | undefined {
  return headers?.map(({ name, value }) => [name, value]) ?? (headers as null | undefined);
}
