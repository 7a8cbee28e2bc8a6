// Hooks of Node's module loader: in place of a module with a fault they load one with the same exports and the replacement.

/** @typedef {{ module: string; name: string; index: number; inject: string }} Replacement */

/** @type {readonly Replacement[]} */
let replacements = [];

/** @param {readonly Replacement[]} given */
export function initialize(given) {
  replacements = given;
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  const replacement = replacements.find(({ module }) => url.endsWith(`/${module}`));
  if (!replacement) return nextLoad(url, context);
  const { name, index, inject } = replacement;
  // With a query the loader sees another module, to which no replacement applies.
  const original = JSON.stringify(`${url}?original`);
  const source = `
    import * as original from ${original};
    import { inject } from ${JSON.stringify(inject)};
    export * from ${original};
    const replaced = inject(${index}, original[${JSON.stringify(name)}]);
    export { replaced as ${name} };`;
  return { format: 'module', shortCircuit: true, source };
}
