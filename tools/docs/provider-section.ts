import type { Preset, Strength } from '@hqrelay/domain/providers/preset';

const strengths: Record<Strength, string> = {
  body: 'A verified request proves the whole body.',
  fields: 'A verified request proves **some fields** of the body, not the rest.',
  bearer: 'A verified request proves only that the sender **knows a token**, and nothing about the body.',
  nothing: 'Nothing is verified: **everything that reaches the URL is delivered**.',
};

/** The section of one preset: where to click, what to paste, what to verify, what is special. */
export function providerSection(preset: Preset): string {
  return [
    `## ${preset.title}`,
    `Preset \`${preset.name}\`. ${strengths[preset.strength]}${trust(preset)}`,
    `**At the provider**\n\n${preset.setUp.map((step) => `- ${filled(step)}`).join('\n')}`,
    `**At the relay**\n\n${bullets(relayFacts(preset))}`,
    `**Your own code** verifies ${preset.customerVerifies}.`,
    section('Special', preset.special),
    section('Not verified', preset.unverified),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function trust({ evidence }: Preset): string {
  if (evidence === 'memory') return ' **The facts of this preset are not verified.**';
  return evidence === 'third-party' ? ' Its facts come from third parties only.' : '';
}

function filled(step: string): string {
  return step.replaceAll('{webhookUrl}', '`<webhook URL>`').replaceAll('{secret}', '`<secret>`');
}

function relayFacts(preset: Preset): string[] {
  const { secret, settings = [], handshakes, refusedInUrl } = preset;
  return [
    secret.from === 'relay'
      ? `Secret: ${secret.what}. The relay makes one, or give your own.`
      : `Secret: ${secret.what}. The provider makes it: give it to the project.`,
    ...settings.map(
      ({ name, what, isRequired }) => `Setting \`${name}\`${isRequired ? '' : ' (optional)'}: ${what}.`,
    ),
    `Event id: ${sources(preset.webhookId, 'none, so the hash of the body')}. Remembered for ${period(preset.idempotencyTtlSeconds)}; another body under the same id is ${preset.changedBody === 'reject' ? 'a conflict (409)' : 'a duplicate'}.`,
    `Event type: ${sources(preset.eventType, 'none')}. Ordering key: ${sources(preset.orderingKey, 'none')}.`,
    ...[...tolerancesOf(preset)].map((seconds) => `A signed time may be ${period(seconds)} away from now.`),
    `Answer to an accepted webhook: ${preset.accepted?.status ?? 202}${preset.accepted?.text === '' ? ' without a body' : ''}.`,
    ...(handshakes
      ? [`Answered by the relay itself: ${handshakes.map(({ method }) => method).join(', ')} challenges.`]
      : []),
    ...(refusedInUrl
      ? [`The provider refuses URLs with ${refusedInUrl.map((text) => `\`${text}\``).join(', ')}.`]
      : []),
  ];
}

/** In seconds, each once. */
function tolerancesOf({ schemes }: Preset): Set<number> {
  const tolerances = schemes.map((scheme) =>
    'timestamp' in scheme ? scheme.timestamp?.toleranceSeconds : undefined,
  );
  return new Set(tolerances.filter((seconds) => seconds !== undefined));
}

/** The first that is there is taken. */
function sources(templates: readonly string[], none: string): string {
  return templates.length === 0 ? none : templates.map((template) => `\`${template}\``).join(', else ');
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** In the largest unit that divides it. */
function period(seconds: number): string {
  const [unit, length] = units.find((each) => seconds % each[1] === 0)!;
  const amount = seconds / length;
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

function section(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `**${title}**\n\n${bullets(items)}`;
}

function bullets(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}
