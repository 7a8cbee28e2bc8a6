import type { ProjectSettings } from '@hqrelay/db/queries/projects';
import type { Preset } from '@hqrelay/domain/providers/preset';
import { findPreset } from '@hqrelay/domain/providers/presets';
import { projectScheme } from '@hqrelay/domain/providers/scheme';
import { done, refused, type Done, type Refusal } from '../action.ts';

/** What a project says about its provider. */
export type ProviderChoice = {
  provider: string;
  settings: Partial<Pick<ProjectSettings, 'scheme' | 'requireTimestamp'>>;
  providerSettings: Readonly<Record<string, string>>;
};

/** The preset of the provider. Refuses what does not fit it, and warns about settings that are missing. */
export function checkProvider({
  provider,
  settings,
  providerSettings,
}: ProviderChoice): Done<Preset> | Refusal {
  const preset = findPreset(provider);
  if (!preset) return invalid(`there is no provider ${provider}: see hqrelay provider list`);
  const problem = schemeProblem(provider, settings) ?? settingProblem(provider, providerSettings);
  if (problem !== undefined) return invalid(problem);
  const missing = (preset.settings ?? []).filter(
    ({ name, isRequired }) => isRequired && providerSettings[name] === undefined,
  );
  return done(
    preset,
    missing.map(
      ({ name, what }) =>
        `${preset.title} needs the setting ${name} (${what}): hqrelay project update --setting ${name}=VALUE`,
    ),
  );
}

/** Why a project of the provider cannot have this scheme or requirement; undefined when it can. */
export function schemeProblem(
  provider: string,
  { scheme, requireTimestamp }: ProviderChoice['settings'],
): string | undefined {
  if (requireTimestamp && !findPreset(provider)?.timestampScheme) {
    return `${provider} has rules of its own about timestamps: --require-timestamp is for generic projects`;
  }
  if (scheme === undefined || scheme === null) return undefined;
  if (requireTimestamp) {
    return 'a scheme of the project itself says whether a timestamp is signed, not --require-timestamp';
  }
  const parsed = projectScheme.safeParse(scheme);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.');
  return `the scheme cannot be used: ${place ? `${place}: ` : ''}${issue?.message}`;
}

/** Which of the settings the provider does not have; undefined when it has all. */
export function settingProblem(
  provider: string,
  providerSettings: ProviderChoice['providerSettings'],
): string | undefined {
  const asked = (findPreset(provider)?.settings ?? []).map(({ name }) => name);
  const unknown = Object.keys(providerSettings).find((name) => !asked.includes(name));
  if (unknown === undefined) return undefined;
  const known = asked.length > 0 ? `it has ${asked.join(', ')}` : 'it needs none';
  return `${provider} has no setting ${unknown}; ${known}`;
}

function invalid(message: string): Refusal {
  return refused('project.invalid_settings', message);
}
