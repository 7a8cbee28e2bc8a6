import type { Preset } from '@hqrelay/domain/providers/preset';

const strengths: Readonly<Record<Preset['strength'], string>> = {
  body: 'the whole body: a sender without the secret can neither make a webhook nor change one',
  fields: 'some fields: the rest of the body can be changed on the way',
  bearer: 'a bearer token: a sender that knows it can send anything',
  nothing: 'NOTHING: everything that reaches the URL is delivered',
};

const evidences: Readonly<Record<Preset['evidence'], string>> = {
  sdk: "read in the provider's own SDK and confirmed by running it",
  vendor: "read in the provider's own source",
  docs: "read in the provider's documentation, not confirmed by running it",
  'third-party': 'reported by others only: try it before you rely on it',
  memory: 'NOT verified: try it before you rely on it',
};

/** What to do at the provider, step by step. */
export function formatSetUp(
  { title, setUp }: Preset,
  { webhookUrl, secret }: { webhookUrl: string; secret: string },
): string {
  const steps = setUp.map((step, index) => {
    const filled = step.replaceAll('{webhookUrl}', webhookUrl).replaceAll('{secret}', secret);
    return `  ${index + 1}. ${filled}`;
  });
  return [`What to do at ${title}:`, ...steps].join('\n');
}

/** `scheme`: one of the project itself, which decides in place of the preset. */
export function formatStrength({ strength }: Preset, scheme?: unknown): string {
  return scheme
    ? 'Verification: as the scheme of the project says'
    : `Verification covers ${strengths[strength]}.`;
}

export function formatEvidence({ evidence, unverified }: Preset): string[] {
  return [
    `How sure these facts are: ${evidences[evidence]}.`,
    ...unverified.map((fact) => `Less sure: ${fact}.`),
  ];
}

/** Why the provider may not post to the URL, or its signature never match. */
export function urlWarnings(
  { title, refusedInUrl = [], schemes }: Preset,
  url: string,
  { publicUrl }: { publicUrl?: string | undefined },
): string[] {
  const refused = refusedInUrl.filter((text) => url.toLowerCase().includes(text));
  const signsUrl = JSON.stringify(schemes).includes('{url}');
  return [
    ...(refused.length > 0
      ? [
          `${title} refuses URLs that contain ${refused.join(' or ')}, as ${url} does: use another host in PUBLIC_URL`,
        ]
      : []),
    ...(signsUrl && publicUrl === undefined
      ? [`${title} signs the URL that it posts to: set PUBLIC_URL, for the receiver too`]
      : []),
  ];
}
