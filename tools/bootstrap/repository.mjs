import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** @param {string} path relative to the repository's root */
export function inRepository(path) {
  return resolve(root, path);
}
