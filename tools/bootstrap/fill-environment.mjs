import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { inRepository } from './repository.mjs';

/**
 * Sets the variables that the environment lacks from `KEY=value` files; the first file that names one wins.
 * A file that does not exist is skipped.
 *
 * @param {string[]} files relative to the repository's root
 */
export function fillEnvironment(files) {
  for (const file of files) {
    for (const [name, value] of Object.entries(parseEnv(readIfPresent(inRepository(file))))) {
      process.env[name] ??= value;
    }
  }
}

/** @param {string} path */
function readIfPresent(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
