import type { Endpoint } from '../api/entities.ts';
import type { BodyOf } from '../api/operations.ts';

type Changes = BodyOf<'patch /api/v1/projects/{projectId}/endpoints/{endpointId}'>;

/** What the form holds: text, as it was typed. */
export type EndpointFields = {
  url: string;
  eventTypes: string;
  retrySchedule: string;
  timeoutSeconds: string;
  headers: string;
  forwardCredentials: boolean;
};

export const emptyFields: EndpointFields = {
  url: '',
  eventTypes: '',
  retrySchedule: 'hqrelay',
  timeoutSeconds: '10',
  headers: '',
  forwardCredentials: false,
};

export function fieldsOf(endpoint: Endpoint): EndpointFields {
  return {
    url: endpoint.url,
    eventTypes: endpoint.eventTypes.join(', '),
    retrySchedule: endpoint.retrySchedule.join(', '),
    timeoutSeconds: String(endpoint.timeoutMs / 1_000),
    headers: '',
    forwardCredentials: endpoint.forwardCredentials,
  };
}

/**
 * Only what differs from `before`: the URL is shown without the values of secret parameters, so one that was not touched is
 * not sent back.
 */
export function changesOf(before: EndpointFields, after: EndpointFields): Changes {
  const isChanged = (name: keyof EndpointFields) => before[name] !== after[name];
  return {
    ...(isChanged('url') && { url: after.url.trim() }),
    ...(isChanged('eventTypes') && { eventTypes: listOf(after.eventTypes) }),
    ...(isChanged('retrySchedule') && { retrySchedule: listOf(after.retrySchedule) }),
    ...(isChanged('timeoutSeconds') && { timeoutMs: Math.round(Number(after.timeoutSeconds) * 1_000) }),
    ...(isChanged('forwardCredentials') && { forwardCredentials: after.forwardCredentials }),
    ...(after.headers.trim() !== '' && { headers: headersOf(after.headers) }),
  };
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((each) => each !== '');
}

function headersOf(text: string): { name: string; value: string }[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split(':');
      return { name: name.trim(), value: rest.join(':').trim() };
    });
}
