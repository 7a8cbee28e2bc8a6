import { readdirSync } from 'node:fs';
import type { ProviderCase } from './provider-case.ts';

const folder = new URL('cases/', import.meta.url);

/** The names of the presets that have a case, in order. */
export const caseNames = readdirSync(folder)
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted();

/** The case of a preset: what `cases/<name>.ts` exports. */
export async function loadCase(name: string): Promise<ProviderCase> {
  const module = (await import(new URL(`${name}.ts`, folder).href)) as { providerCase: ProviderCase };
  return module.providerCase;
}
