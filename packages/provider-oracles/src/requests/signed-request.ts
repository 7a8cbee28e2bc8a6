import type { ProviderRequest, Signed, SignInput, Variant } from '../provider-case.ts';

/** The URL that the provider has been given: PUBLIC_URL and the project's path. */
export const webhookUrl = 'https://relay.example/v1/webhooks/0199a7c4-6c1e-7c5e-9a53-5c1e7c5e9a53';

type Signer = (input: SignInput) => Signed | Promise<Signed>;

/** A request of the provider, signed at `at` (ms) over `body` by the facts, or by another signer. */
export async function signedRequest(
  variant: Variant,
  input: { secret: string; at: number; body?: Buffer; sign?: Signer; url?: string },
): Promise<ProviderRequest> {
  const { secret, at, sign = variant.sign, url = webhookUrl } = input;
  const body = input.body ?? bodyOf(variant, at);
  const signed = await sign({ body, secret, at, url });
  return {
    method: 'POST',
    url: signed.query === undefined ? url : `${url}?${signed.query}`,
    headers: { 'content-type': 'application/json', ...variant.headers, ...signed.headers },
    body: signed.body ?? body,
  };
}

export function bodyOf({ body }: Variant, at: number): Buffer {
  return Buffer.from(typeof body === 'string' ? body : body(at));
}
