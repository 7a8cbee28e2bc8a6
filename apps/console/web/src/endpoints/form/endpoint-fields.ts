import type { Endpoint } from '../../api/entities.ts';
import type { BodyOf } from '../../api/operations.ts';

type Changes = BodyOf<'patch /api/v1/projects/{projectId}/endpoints/{endpointId}'>;

/** The input of the form: text, as it was typed. Of a stored secret it has no value, only whether to remove it. */
export type EndpointFields = {
  url: string;
  eventTypes: string;
  retrySchedule: string;
  timeoutSeconds: string;
  orderingKey: string;
  onDeadLetter: Endpoint['onDeadLetter'];
  forwardCredentials: boolean;
  headers: string;
  removesHeaders: boolean;
  caCertificates: string;
  removesCa: boolean;
  clientCertificate: string;
  clientKey: string;
  removesClientCertificate: boolean;
};

const noSecrets = {
  headers: '',
  removesHeaders: false,
  caCertificates: '',
  removesCa: false,
  clientCertificate: '',
  clientKey: '',
  removesClientCertificate: false,
};

export const emptyFields: EndpointFields = {
  url: '',
  eventTypes: '',
  retrySchedule: 'hqrelay',
  timeoutSeconds: '10',
  orderingKey: '',
  onDeadLetter: 'continue',
  forwardCredentials: false,
  ...noSecrets,
};

export function fieldsOf(endpoint: Endpoint): EndpointFields {
  return {
    url: endpoint.url,
    eventTypes: endpoint.eventTypes.join(', '),
    retrySchedule: endpoint.retrySchedule.join(', '),
    timeoutSeconds: String(endpoint.timeoutMs / 1_000),
    orderingKey: endpoint.orderingKey ?? '',
    onDeadLetter: endpoint.onDeadLetter,
    forwardCredentials: endpoint.forwardCredentials,
    ...noSecrets,
  };
}

/**
 * Only the fields that differ from `before`: the URL is shown without the values of secret parameters, so an unchanged one is
 * not sent back.
 */
export function changesOf(before: EndpointFields, after: EndpointFields): Changes {
  const isChanged = (name: keyof EndpointFields) => before[name] !== after[name];
  const orderingKey = after.orderingKey.trim();
  return {
    ...(isChanged('url') && { url: after.url.trim() }),
    ...(isChanged('eventTypes') && { eventTypes: listOf(after.eventTypes) }),
    ...(isChanged('retrySchedule') && { retrySchedule: listOf(after.retrySchedule) }),
    ...(isChanged('timeoutSeconds') && { timeoutMs: Math.round(Number(after.timeoutSeconds) * 1_000) }),
    ...(isChanged('orderingKey') && { orderingKey: orderingKey === '' ? null : orderingKey }),
    ...(isChanged('onDeadLetter') && { onDeadLetter: after.onDeadLetter }),
    ...(isChanged('forwardCredentials') && { forwardCredentials: after.forwardCredentials }),
    ...secretsOf(after),
  };
}

/** A secret that is given replaces the stored one; null removes it. */
function secretsOf(after: EndpointFields): Changes {
  const { caCertificates, clientCertificate: certificate, clientKey: key } = after;
  const hasPair = certificate.trim() !== '' || key.trim() !== '';
  return {
    ...(after.removesHeaders && { headers: null }),
    ...(after.headers.trim() !== '' && { headers: headersOf(after.headers) }),
    ...(after.removesCa && { caCertificates: null }),
    ...(caCertificates.trim() !== '' && { caCertificates }),
    ...(after.removesClientCertificate && { clientCertificate: null }),
    ...(hasPair && { clientCertificate: { certificate, key } }),
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
