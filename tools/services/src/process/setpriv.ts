import { existsSync } from 'node:fs';
import { serversFolder } from '../programs.ts';

const setpriv = '/usr/bin/setpriv';

/**
 * The prefix of a command that makes the kernel signal the process when this one dies, and runs it as `user` instead of root.
 * Empty where the system has no setpriv and `user` is absent.
 */
export function setprivPrefix(signal: NodeJS.Signals, user: string | undefined): string[] {
  if (user === undefined && !existsSync(setpriv)) return [];
  const atDeath = [setpriv, '--pdeathsig', signal.replace(/^SIG/, '')];
  if (user === undefined) return [...atDeath, '--'];
  // The programs of HQRELAY_SERVERS_DIR may be wrappers that change the root directory first.
  const mayChroot =
    serversFolder() === undefined ? [] : ['--inh-caps=+sys_chroot', '--ambient-caps=+sys_chroot'];
  return [...atDeath, '--reuid', user, '--regid', user, '--init-groups', ...mayChroot, '--'];
}
