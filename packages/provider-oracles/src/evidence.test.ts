import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { presets } from '@hqrelay/domain/providers/presets';
import { expect, it } from 'vitest';
import { countsOf, evidencePage, statedCounts, type EvidenceRow } from './evidence-table.ts';
import { evidenceOf } from './evidence.ts';
import { loadCase } from './load-cases.ts';

const page = fileURLToPath(new URL('../../../docs/providers-evidence.md', import.meta.url));

/** The evidence of every format of every preset, gathered by running it. */
async function gather(): Promise<EvidenceRow[]> {
  const rows: EvidenceRow[] = [];
  for (const preset of presets) {
    const provider = await loadCase(preset.name);
    for (const variant of provider.variants) {
      rows.push({ preset, variant, evidence: await evidenceOf(preset, provider, variant) });
    }
  }
  return rows;
}

// The packages are loaded here, outside the test and its time-out.
const rows = await gather();

it('docs/providers-evidence.md states what the tests prove, and never less than before', async () => {
  const stated = statedCounts(readFileSync(page, 'utf8'));
  const counts = countsOf(rows);
  expect(Object.keys(stated)).toEqual(Object.keys(counts));
  for (const kind of Object.keys(counts) as (keyof typeof counts)[]) {
    expect(
      counts[kind],
      `${kind} fell; lower the count on the page by hand if that is right`,
    ).toBeGreaterThanOrEqual(stated[kind]!);
  }
  await expect(await evidencePage(rows)).toMatchFileSnapshot(page);
});
