import { spawn } from 'node:child_process';
import { inRepository } from './repository.mjs';

/** @typedef {{ code: number | null, signal: NodeJS.Signals | null, output: string }} ChildEnd `output`: everything it wrote to pipes */

/** @type {readonly NodeJS.Signals[]} */
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Two of one signal within this time count once: on Ctrl-C the terminal signals the whole process group, and npm, which is in
 * it too, signals this process again. A second signal makes the apps end at once.
 */
const sameSignalMs = 300;

/**
 * Runs a child to its end. It gets a process group of its own, so that a signal reaches it from here only, and once.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ stdio?: import('node:child_process').StdioOptions, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<ChildEnd>}
 */
export async function runChild(command, args, { stdio = 'inherit', env = process.env } = {}) {
  const child = spawn(command, args, { stdio, env, cwd: inRepository('.'), detached: true });
  /** @type {Map<NodeJS.Signals, number>} */
  const lastSeen = new Map();
  /** @param {NodeJS.Signals} signal */
  const passOn = (signal) => {
    const now = performance.now();
    const isEcho = now - (lastSeen.get(signal) ?? -Infinity) < sameSignalMs;
    lastSeen.set(signal, now);
    if (!isEcho) child.kill(signal);
  };
  for (const signal of passedOn) process.on(signal, passOn);
  let output = '';
  for (const pipe of [child.stdout, child.stderr]) {
    pipe?.on('data', (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
    });
  }
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal, output }));
    });
  } finally {
    for (const signal of passedOn) process.off(signal, passOn);
  }
}

/**
 * Ends this process the way the child ended: same exit code, or the same signal.
 *
 * @param {Omit<ChildEnd, 'output'>} end
 * @returns {void}
 */
export function endLike({ code, signal }) {
  process.exitCode = code ?? 1;
  if (signal !== null) process.kill(process.pid, signal);
}
