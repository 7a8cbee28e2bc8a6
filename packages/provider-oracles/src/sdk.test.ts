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
      const lateness =
        toleranceSeconds === undefined
          ? { verdict: 'accepts', when: 'two days late', lateSeconds: 2 * 86_400 }
          : { verdict: 'rejects', when: 'after its tolerance', lateSeconds: toleranceSeconds + 30 };
      it.each([lateness])(
        'the package $verdict a genuine request that is forwarded $when',
        async ({ verdict, lateSeconds }) => {
          const at = Date.now() - lateSeconds * 1_000;
          const request = await signedRequest(variant, { secret: provider.secret, at });
          expect(await sdkAccepts(sdk, request, provider.secret)).toBe(verdict === 'accepts');
        },
      );
    });
  }
}
