import type { ProviderRequest, Sdk } from './provider-case.ts';

/** Whether the package accepts the request. It may answer, answer later, or throw. */
export async function sdkAccepts(
  { verify }: Sdk,
  request: ProviderRequest,
  secret: string,
): Promise<boolean> {
  if (!verify) throw new Error('the package does not verify');
  try {
    return Boolean(await verify(request, secret));
  } catch {
    return false;
  }
}
