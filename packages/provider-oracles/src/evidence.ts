import type { Preset } from '@hqrelay/domain/providers/preset';
import type { ProviderCase, Variant } from './provider-case.ts';
import { forwarded, relayVerdict } from './relay.ts';
import { sdkAccepts } from './sdk-verdict.ts';
import { signedRequest } from './requests/signed-request.ts';

/** What is proven of a preset in one format, each by running it. */
export type Evidence = {
  /** The relay accepts what the provider's package signs. */
  sdkSigned: boolean;
  /** The provider's package accepts what the relay forwards. */
  sdkVerifies: boolean;
  /** The relay accepts a request that the provider published. */
  vector: boolean;
};

export async function evidenceOf(
  preset: Preset,
  provider: ProviderCase,
  variant: Variant,
): Promise<Evidence> {
  const { sdk, vectors = [] } = variant;
  const now = Date.now();
  const { secret } = provider;
  const isVerified = (request: Parameters<typeof relayVerdict>[3]) =>
    relayVerdict(preset, provider, variant, request) === 'verified';

  const request = await signedRequest(variant, { secret, at: now });
  const bySdk = sdk?.sign && (await signedRequest(variant, { secret, at: now, sign: sdk.sign }));
  return {
    sdkSigned: bySdk !== undefined && isVerified({ request: bySdk, secret, now }),
    sdkVerifies: sdk?.verify !== undefined && (await sdkAccepts(sdk, forwarded(request, secret), secret)),
    vector: vectors.length > 0 && vectors.every((each) => isVerified({ ...each, now: each.at })),
  };
}
