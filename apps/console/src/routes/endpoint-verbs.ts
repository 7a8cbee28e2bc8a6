import {
  disableEndpoint,
  enableEndpoint,
  pauseEndpoint,
  resumeEndpoint,
} from '@hqrelay/actions/endpoint/change-endpoint';
import { rotateEndpointSecret } from '@hqrelay/actions/endpoint/rotate-endpoint-secret';
import { testEndpoint } from '@hqrelay/actions/endpoint/test-endpoint';
import type { ActionResult } from '@hqrelay/actions/action';
import type { Endpoint } from '@hqrelay/db/queries/endpoints';
import { z } from 'zod';
import type { RequestContext } from '../api/request-context.ts';
import { defineRoute } from '../api/route.ts';
import {
  disabling,
  endpoint,
  overlap,
  release,
  rotatedEndpointSecret,
  testedEndpoint,
} from '../schemas/endpoint.ts';
import { uuid } from '../schemas/fields.ts';
import { shown } from './endpoints.ts';
import { mapReply } from './map-reply.ts';

const tag = 'Endpoints';
const params = z.strictObject({ projectId: uuid, endpointId: uuid });
const names = { projectId: 'project', endpointId: 'endpoint' } as const;
const path = '/api/v1/projects/{projectId}/endpoints/{endpointId}';
const nothing = z.strictObject({});

/** A verb that changes an endpoint and answers it as it is then. */
function verb<const Name extends 'pause' | 'resume' | 'enable' | 'disable', Body extends z.ZodObject>(
  name: Name,
  summary: string,
  body: Body,
  act: (
    actions: RequestContext['actions'],
    endpointId: string,
    body: z.output<Body>,
  ) => Promise<ActionResult<Endpoint>>,
) {
  return defineRoute({
    method: 'post',
    path: `${path}/${name}`,
    name: `${name}Endpoint`,
    summary,
    tag,
    role: 'operator',
    params,
    names,
    body,
    statusCode: 200,
    answer: endpoint,
    handle: async ({ actions }, input) =>
      mapReply(await act(actions, input.params.endpointId, input.body), shown),
  });
}

export const endpointVerbs = [
  verb('pause', 'Hold its deliveries until it is resumed', nothing, pauseEndpoint),
  verb('resume', 'End a pause: held deliveries are released, the oldest first', release, resumeEndpoint),
  verb('enable', 'Owe it webhooks again, and release what is held', release, enableEndpoint),
  verb(
    'disable',
    'Owe it no new webhooks, and hold the deliveries that it is owed already',
    disabling,
    (actions, endpointId, { reason }) =>
      disableEndpoint(actions, endpointId, reason ?? 'disabled by an operator'),
  ),
  defineRoute({
    method: 'post',
    path: `${path}/test`,
    name: 'testEndpoint',
    summary: 'Send a signed ping (event type hqrelay.ping) and say what the endpoint answered',
    tag,
    role: 'operator',
    params,
    names,
    body: nothing,
    statusCode: 200,
    answer: testedEndpoint,
    handle: async ({ pool, secretsKey, sender, now, caller }, { params: { endpointId } }) => {
      const deps = { pool, secretsKey, send: sender.send.bind(sender) };
      const tested = await testEndpoint(deps, endpointId, now());
      return mapReply(tested, ({ ping }) => (caller.hidePayloads ? { ...ping, responseBody: null } : ping));
    },
  }),
  defineRoute({
    method: 'post',
    path: `${path}/rotate-secret`,
    name: 'rotateEndpointSecret',
    summary: 'Give it a new signing secret; the old one signs too until the overlap ends',
    tag,
    role: 'operator',
    params,
    names,
    body: overlap,
    statusCode: 200,
    answer: rotatedEndpointSecret,
    handle: ({ actions }, { params: { endpointId }, body: { overlapSeconds = 86_400 } }) =>
      rotateEndpointSecret(actions, { endpointId, overlapMs: overlapSeconds * 1_000 }),
  }),
];
