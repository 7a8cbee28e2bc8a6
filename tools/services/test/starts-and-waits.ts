// A program for a test to kill: it starts private servers in the given folder and waits.
import { startPrivateServices } from '../src/private-services.ts';

await startPrivateServices({ dir: process.argv[2] as string, durable: false, say: () => {} });
process.stdout.write('started\n');
setInterval(() => {}, 60_000);
