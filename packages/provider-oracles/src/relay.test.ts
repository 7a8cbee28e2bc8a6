import { presets } from '@hqrelay/domain/providers/presets';
import { describe, expect, it } from 'vitest';
import { evidenceOf } from './evidence.ts';
import { caseNames, loadCase } from './load-cases.ts';
import { forwarded, relayIdentity, relayVerdict } from './relay.ts';
import { sha256Hex } from './requests/signatures.ts';
import { signedRequest } from './requests/signed-request.ts';
import { tamperingsOf } from './requests/tamperings.ts';

it('every preset has a case, and every case a preset', () => {
  expect(caseNames).toEqual(presets.map(({ name }) => name).toSorted());
});

const strengths = ['nothing', 'bearer', 'fields', 'body'] as const;

for (const preset of presets) {
  if (!caseNames.includes(preset.name)) continue;
  const provider = await loadCase(preset.name);

  it(`the strength of ${preset.name} is that of its weakest format`, () => {
    const covered = provider.variants.map(({ covers }) => covers);
    expect(preset.strength).toBe(strengths.find((strength) => covered.includes(strength)));
  });

  for (const variant of provider.variants) {
    const { secret } = provider;
    describe(`${preset.name}, ${variant.name}`, () => {
      it('a request that is signed as the facts say is verified', async () => {
        const now = Date.now();
        const request = await signedRequest(variant, { secret, at: now });
        expect(relayVerdict(preset, provider, variant, { request, secret, now })).toBe('verified');
      });

      it('its id, event type and ordering key are those of the facts', async () => {
        const request = await signedRequest(variant, { secret, at: Date.now() });
        const { eventId, eventType, orderingKey } = variant.expects;
        expect(relayIdentity(preset, provider, request)).toEqual({
          webhookId: eventId ?? sha256Hex(request.body),
          eventType,
          orderingKey,
        });
      });

      it('every tampering gets its verdict', async () => {
        const now = Date.now();
        const tamperings = await tamperingsOf(provider, variant, now);
        const verdicts = tamperings.map(({ name, request, secret: key }) => [
          name,
          relayVerdict(preset, provider, variant, { request, secret: key, now }),
        ]);
        expect(verdicts).toEqual(tamperings.map(({ name, verdict }) => [name, verdict]));
      });

      it('an endpoint receives every byte and every header, and a credential only where it is forwarded', async () => {
        const request = await signedRequest(variant, { secret, at: Date.now() });
        const forward = forwarded(request, secret);
        expect(forward.headers).toMatchObject(request.headers);
        expect(forward.body.equals(request.body)).toBe(true);
        const { headers } = forwarded(request, secret, { withCredentials: false });
        const key = variant.covers === 'bearer' ? secret : undefined;
        const holding = Object.values(headers).filter((value) => key !== undefined && value.includes(key));
        expect(holding).toEqual([]);
      });

      const { sdk, vectors = [] } = variant;
      it.each(sdk ? [sdk] : [])(
        'the package of the provider and the relay accept what the other passes on',
        async ({ sign, verify }) => {
          const { sdkSigned, sdkVerifies } = await evidenceOf(preset, provider, variant);
          expect({ sdkSigned, sdkVerifies }).toEqual({
            sdkSigned: sign !== undefined,
            sdkVerifies: verify !== undefined,
          });
        },
      );

      it.each(vectors)(
        'the request that $source publishes is verified, and none with another text',
        (vector) => {
          const { request, covered, at: now } = vector;
          const text = request.body.toString().replace(...covered);
          expect(text).not.toBe(request.body.toString());
          const altered = { ...request, body: Buffer.from(text) };
          expect(relayVerdict(preset, provider, variant, { ...vector, now })).toBe('verified');
          expect(relayVerdict(preset, provider, variant, { ...vector, request: altered, now })).toBe(
            'mismatch',
          );
        },
      );
    });
  }
}
