// Loaded into an app before its own code: replaces the exports that the fault of `HQRELAY_CHAOS_FAULT` names.
import { appendFileSync } from 'node:fs';
import { register } from 'node:module';
import { faults } from './faults.mjs';

const { HQRELAY_CHAOS_FAULT: name = '', HQRELAY_CHAOS_FAULT_LOG: log = '' } = process.env;
const app = /apps\/(\w+)\/dist\/main\.js$/.exec(process.argv[1] ?? '')?.[1];
const chosen = (faults[name] ?? []).filter((fault) => fault.app === 'both' || fault.app === app);

register('./replace-exports.mjs', import.meta.url, {
  data: chosen.map((fault, index) => ({ ...targetOf(fault), index, inject: import.meta.url })),
});

/**
 * Called by the module that stands in for a fault's module. Throws when the export does not exist: the app then ends.
 *
 * @param {number} index
 * @param {unknown} original
 */
export function inject(index, original) {
  const fault = chosen[index];
  if (!fault || typeof original !== 'function')
    throw new Error(`${fault?.module} has no export ${fault?.name}`);
  const target = `${app} ${fault.module}#${fault.name}`;
  appendFileSync(log, `injected ${target}\n`);
  let isUsed = false;
  return fault.replace(original, () => {
    if (!isUsed) appendFileSync(log, `used ${target}\n`);
    isUsed = true;
  });
}

/** @param {import('./faults.mjs').Fault} fault */
function targetOf({ module, name }) {
  return { module, name };
}
