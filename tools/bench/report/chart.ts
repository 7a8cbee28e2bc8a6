import type { Figure } from '../summary.ts';

const charted = [
  { name: 'accepted/s', label: 'accepted a second' },
  { name: 'drained/s', label: 'drained a second' },
  { name: 'both/s', label: 'accepted and delivered a second' },
  { name: 'accepting, receiver µs', label: 'receiver, µs of CPU for a webhook' },
  { name: 'draining, worker µs', label: 'worker, µs of CPU for a delivery' },
];
const width = 720;
const left = 270;
const barHeight = 16;
const groupHeight = 52;

/** Bars of the product beside those of the bare pipeline, each pair on a scale of its own. */
export function chartOf(figures: readonly Figure[]): string {
  const groups = charted.flatMap(({ name, label }) => {
    const figure = figures.find((each) => each.name === name);
    return figure?.bare ? [{ label, product: figure.product.median, bare: figure.bare.median }] : [];
  });
  const height = groups.length * groupHeight + 16;
  const bars = groups.map(({ label, product, bare }, index) => {
    const top = 12 + index * groupHeight;
    const scale = (width - left - 90) / Math.max(product, bare);
    return [
      `<text x="${left - 12}" y="${top + barHeight + 4}" text-anchor="end">${label}</text>`,
      bar({ name: 'product', value: product, y: top, scale }),
      bar({ name: 'bare', value: bare, y: top + barHeight + 2, scale }),
    ].join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The product beside the bare pipeline">
<style>text{font:13px sans-serif;fill:#444}.product{fill:#2563eb}.bare{fill:#9ca3af}@media (prefers-color-scheme:dark){text{fill:#ccc}}</style>
${bars.join('\n')}
</svg>
`;
}

function bar({ name, value, y, scale }: { name: string; value: number; y: number; scale: number }): string {
  const length = Math.round(value * scale);
  return `<rect class="${name}" x="${left}" y="${y}" width="${length}" height="${barHeight}" rx="2"/><text x="${left + length + 6}" y="${y + barHeight - 3}">${Math.round(value)} ${name}</text>`;
}
