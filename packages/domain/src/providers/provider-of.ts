import type { ProjectConfig } from '../project-config.ts';
import type { Preset } from './preset.ts';
import { findPreset, presets } from './presets.ts';
import type { Scheme } from './scheme.ts';

/** How the webhooks of a project are verified and identified: its preset, with the project's own scheme if it has one. */
export type Provider = { preset: Preset; schemes: readonly Scheme[] };

const generic = presets.find(({ name }) => name === 'generic') as Preset;

/** How a project that is unknown is treated, so that no answer tells that it is. */
export const genericProvider: Provider = { preset: generic, schemes: generic.schemes };

const ofProjects = new WeakMap<object, Provider>();

/** A provider that this version does not know is treated as a generic one. */
export function providerOf(
  project: Pick<ProjectConfig, 'provider' | 'scheme' | 'requireTimestamp'>,
): Provider {
  let provider = ofProjects.get(project);
  if (!provider) {
    const preset = findPreset(project.provider) ?? generic;
    provider = { preset, schemes: schemesOf(preset, project) };
    ofProjects.set(project, provider);
  }
  return provider;
}

function schemesOf(
  preset: Preset,
  { scheme, requireTimestamp }: Pick<ProjectConfig, 'scheme' | 'requireTimestamp'>,
): readonly Scheme[] {
  if (scheme) return [scheme];
  return requireTimestamp && preset.timestampScheme ? [preset.timestampScheme] : preset.schemes;
}
