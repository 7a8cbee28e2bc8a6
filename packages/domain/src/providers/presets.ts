import type { Preset } from './preset.ts';
import { businessApps } from './presets/business-apps.ts';
import { chatAndVideo } from './presets/chat-and-video.ts';
import { commerce } from './presets/commerce.ts';
import { developerTools } from './presets/developer-tools.ts';
import { paymentsAToF } from './presets/payments-a-to-f.ts';
import { paymentsGToO } from './presets/payments-g-to-o.ts';
import { paymentsPToZ } from './presets/payments-p-to-z.ts';
import { relayOwn } from './presets/relay-own.ts';
import { telephonyAndMail } from './presets/telephony-and-mail.ts';

const providers = [
  ...businessApps,
  ...chatAndVideo,
  ...commerce,
  ...developerTools,
  ...paymentsAToF,
  ...paymentsGToO,
  ...paymentsPToZ,
  ...telephonyAndMail,
];

/**
 * Every preset, in the order in which people look for them: those that follow no provider's conventions first, then by name.
 * A new provider is one row in the file of its kind and one case in `packages/provider-oracles/src/cases`.
 * Names of menus in `setUp` are not verified.
 */
export const presets: readonly Preset[] = [
  ...relayOwn,
  ...providers.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
];

const byName: ReadonlyMap<string, Preset> = new Map(presets.map((preset) => [preset.name, preset]));

/** Undefined for a name that no provider has. */
export function findPreset(name: string): Preset | undefined {
  return byName.get(name);
}
