import { describe, expect, it } from 'vitest';
import { caseNames, loadCase } from './load-cases.ts';
import { sdkAccepts } from './sdk-verdict.ts';
import { signedRequest } from './requests/signed-request.ts';
import { oldRequest, tamperingsOf } from './requests/tamperings.ts';

for (const name of caseNames) {
  const provider = await loadCase(name);
  for (const variant of provider.variants) {
    const { sdk } = variant;
    if (!sdk?.verify) continue;
    describe(`${sdk.name}: ${name}, ${variant.name}`, () => {
      it('the package accepts a request that is signed as the facts say', async () => {
        const request = await signedRequest(variant, { secret: provider.secret, at: Date.now() });
        expect(await sdkAccepts(sdk, request, provider.secret)).toBe(true);
      });

      it('the package judges wrongly exactly the tamperings that its case lists', async () => {
        const wrong: string[] = [];
        for (const { name: tampering, request, secret, verdict } of await tamperingsOf(
          provider,
          variant,
          Date.now(),
        )) {
          if (tampering === oldRequest) continue;
          const accepts = await sdkAccepts(sdk, request, secret);
          if (accepts !== (verdict === 'verified')) wrong.push(tampering);
        }
        expect(wrong.toSorted()).toEqual([...(sdk.mistakes ?? [])].toSorted());
      });

      const { toleranceSeconds } = sdk;
      it.runIf(toleranceSeconds !== undefined)(
        'the package rejects a genuine request that is forwarded after its tolerance',
        async () => {
          const at = Date.now() - (toleranceSeconds! + 30) * 1_000;
          const request = await signedRequest(variant, { secret: provider.secret, at });
          expect(await sdkAccepts(sdk, request, provider.secret)).toBe(false);
        },
      );

      it.runIf(toleranceSeconds === undefined)(
        'the package accepts a genuine request that is forwarded two days late',
        async () => {
          const at = Date.now() - 2 * 86_400_000;
          const request = await signedRequest(variant, { secret: provider.secret, at });
          expect(await sdkAccepts(sdk, request, provider.secret)).toBe(true);
        },
      );
    });
  }
}
