import { findCredentials, restoreCredentials } from '@hqrelay/domain/inbound/forwarded-credentials';
import { keepHeaders } from '@hqrelay/domain/inbound/forwarded-headers';
import { deliveryHeaders } from '@hqrelay/domain/delivery/outbound-signing';
import { identify, type Identity } from '@hqrelay/domain/providers/identify';
import type { Preset } from '@hqrelay/domain/providers/preset';
import { headerLookupOf } from '@hqrelay/domain/providers/request/header-lookup';
import { viewOf, type RequestView } from '@hqrelay/domain/providers/request/request-view';
import { verifyRequest, type SignatureCheck } from '@hqrelay/domain/providers/signature/verify-request';
import type { ProviderCase, ProviderRequest, Variant } from './provider-case.ts';

/** The verdict of the relay at `now` (ms) in a project with this secret. */
export function relayVerdict(
  preset: Preset,
  { settings }: Pick<ProviderCase, 'settings'>,
  variant: Pick<Variant, 'requiresTimestamp'>,
  { request, secret, now }: { request: ProviderRequest; secret: string; now: number },
): SignatureCheck['kind'] {
  const schemes =
    variant.requiresTimestamp && preset.timestampScheme ? [preset.timestampScheme] : preset.schemes;
  const keys = { secrets: [{ id: 'only', key: secret }], settings: settings ?? {} };
  return verifyRequest(schemes, keys, asView(request), now).kind;
}

export function relayIdentity(
  preset: Preset,
  { settings }: Pick<ProviderCase, 'settings'>,
  request: ProviderRequest,
): Identity {
  return identify(preset, settings ?? {}, asView(request));
}

/**
 * What an endpoint receives of the request on its second attempt, with `--forward-credentials` unless told otherwise. The URL is the relay's: a customer
 * whose provider signs the URL has to verify against it.
 */
export function forwarded(
  request: ProviderRequest,
  secret: string,
  { withCredentials = true } = {},
): ProviderRequest {
  const rawHeaders = Object.entries({ host: 'relay.example', ...request.headers }).flat();
  const secrets = [{ id: 'only', key: secret }];
  const places = withCredentials ? findCredentials(rawHeaders, secrets) : [];
  const credentials = restoreCredentials(places, secrets);
  const sent = deliveryHeaders({
    providerHeaders: [...keepHeaders(rawHeaders, secrets), ...credentials],
    fixedHeaders: [],
    signingKeys: [Buffer.alloc(32, 7)],
    webhookLogId: '0199a7c4-6c1e-7c5e-9a53-5c1e7c5e9a53',
    attemptNum: 2,
    correlationId: 'oracle',
    body: request.body,
    now: Date.now(),
  });
  return {
    ...request,
    headers: Object.fromEntries(sent.map(([name, value]) => [name.toLowerCase(), value])),
  };
}

/** The request as the relay's engine reads it. */
export function asView({ method, url, headers, body }: ProviderRequest): RequestView {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  return viewOf({ method, url, query, headers: headerLookupOf(Object.entries(headers)), body });
}
