import type { BodyOf } from '../api/operations.ts';
import { presets } from '@hqrelay/domain/providers/presets';

type NewProject = BodyOf<'post /api/v1/projects'>;

export type ProjectFields = {
  name: string;
  provider: string;
  secret: string;
  requireTimestamp: boolean;
  /** By the name of the setting; those of a provider that is not chosen any more are not sent. */
  settings: Readonly<Record<string, string>>;
};

export const emptyProject: ProjectFields = {
  name: '',
  provider: 'generic',
  secret: '',
  requireTimestamp: false,
  settings: {},
};

export function presetOf(provider: string) {
  return presets.find(({ name }) => name === provider);
}

export function newProjectOf({
  name,
  provider,
  secret,
  requireTimestamp,
  settings,
}: ProjectFields): NewProject {
  const preset = presetOf(provider);
  const given = (preset?.settings ?? []).flatMap((setting) => {
    const value = settings[setting.name]?.trim() ?? '';
    return value === '' ? [] : [[setting.name, value] as const];
  });
  return {
    name,
    provider,
    ...(secret !== '' && { secret }),
    ...(requireTimestamp && preset?.timestampScheme !== undefined && { requireTimestamp }),
    ...(given.length > 0 && { providerSettings: Object.fromEntries(given) }),
  };
}
