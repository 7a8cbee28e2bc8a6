const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

export function formatCount(count: number, capped = false): string {
  return capped ? `${whole.format(count)}+` : whole.format(count);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** `1 webhook`, `2 webhooks`. */
export function plural(count: number, noun: string): string {
  const nouns = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

/** Never `100%` while one of them failed, and never `0%` while one succeeded. */
export function formatShare(part: number, total: number): string {
  if (total === 0) return '–';
  const share = part / total;
  if (share < 1 && share > 0.999) return '>99.9%';
  return share > 0 && share < 0.001 ? '<0.1%' : percent.format(share);
}
