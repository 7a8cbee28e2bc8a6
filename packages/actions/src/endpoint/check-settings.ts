import { createSecureContext } from 'node:tls';
import {
  checkAuthorities,
  checkClientCertificate,
  type ClientCertificate,
} from '@hqrelay/domain/network/endpoint-tls';
import { orderingKeyProblem } from '@hqrelay/domain/inbound/ordering-key';
import { checkEndpointUrl, type NetworkPolicy } from '@hqrelay/domain/network/network-policy';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { done, refused, type ActionResult, type Refusal } from '../action.ts';
import { problemOfHeaders } from './header-problem.ts';

/** Settings of an endpoint that a person gives. Undefined keeps the stored one, null removes it. */
export type UncheckedSettings = {
  url?: string | undefined;
  orderingKey?: string | null | undefined;
  /** Pairs of name and value. */
  fixedHeaders?: readonly (readonly [string, string])[] | null | undefined;
  /** PEM. */
  caCertificates?: string | null | undefined;
  clientCertificate?: ClientCertificate | null | undefined;
};

declare const isChecked: unique symbol;

/** Only `checkSettings` makes them, so that every caller of an action has checked them. */
export type CheckedSettings<Settings extends UncheckedSettings> = Settings & { readonly [isChecked]: true };

/**
 * Returns the settings if all of them can be used. No message of a refusal repeats a secret. `now` in ms since epoch: expired
 * certificates are refused.
 */
export function checkSettings<Settings extends UncheckedSettings>(
  policy: NetworkPolicy,
  settings: Settings,
  now: number,
): ActionResult<CheckedSettings<Settings>> {
  const refusal =
    refusalOfUrl(policy, settings) ??
    refusalOfOrderingKey(settings) ??
    refusalOfHeaders(settings) ??
    refusalOfCertificates(settings, now);
  return refusal ?? done(settings as CheckedSettings<Settings>);
}

function refusalOfUrl(policy: NetworkPolicy, { url }: UncheckedSettings): Refusal | undefined {
  if (url === undefined) return undefined;
  const checked = checkEndpointUrl(policy, url);
  return checked.ok
    ? undefined
    : refused('endpoint.invalid_url', `the URL ${redactUrl(url)} cannot be used: ${checked.reason}`);
}

function refusalOfOrderingKey({ orderingKey }: UncheckedSettings): Refusal | undefined {
  const problem = orderingKey ? orderingKeyProblem(orderingKey) : undefined;
  return problem ? refused('endpoint.invalid_ordering_key', problem) : undefined;
}

function refusalOfHeaders({ fixedHeaders }: UncheckedSettings): Refusal | undefined {
  const problem = fixedHeaders && problemOfHeaders(fixedHeaders);
  return problem ? refused('endpoint.invalid_headers', problem) : undefined;
}

function refusalOfCertificates(
  { url, caCertificates: ca, clientCertificate: client }: UncheckedSettings,
  now: number,
): Refusal | undefined {
  if (!ca && !client) return undefined;
  const refuse = (sentence: string) => refused('endpoint.invalid_certificates', sentence);
  if (url !== undefined && !/^https:/i.test(url)) {
    return refuse('certificates are for https URLs: plain http has none');
  }
  const authorities = ca ? checkAuthorities(ca, now) : undefined;
  if (authorities && !authorities.ok) return refuse(`the authorities cannot be used: ${authorities.reason}`);
  const certificate = client ? checkClientCertificate(client, now) : undefined;
  if (certificate && !certificate.ok) {
    return refuse(`the client certificate cannot be used: ${certificate.reason}`);
  }
  try {
    createSecureContext({ ca: ca ?? undefined, cert: client?.certificate, key: client?.key });
    return undefined;
  } catch (error) {
    return refuse(`OpenSSL does not take these certificates: ${(error as Error).message}`);
  }
}
