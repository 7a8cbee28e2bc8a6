// Loaded before a receiver or a worker: records its CPU profile from one second after its start until SIGTERM, and writes it into
// the folder PROFILE_FOLDER. In that second it loads modules, which no webhook pays for.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';

const app = String(process.argv[1]).includes('receiver') ? 'receiver' : 'worker';
const samplingIntervalUs = 200;
const startupMs = 1_000;
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.setSamplingInterval', { interval: samplingIntervalUs });
setTimeout(() => session.post('Profiler.start'), startupMs).unref();

process.once('SIGTERM', () => {
  session.post('Profiler.stop', (error, { profile }) => {
    if (error) throw error;
    writeFileSync(join(String(process.env['PROFILE_FOLDER']), `${app}.cpuprofile`), JSON.stringify(profile));
  });
  // An app of the product has a listener of its own, which drains; a bare one would continue for ever.
  if (process.listenerCount('SIGTERM') === 0) process.exit(0);
});
