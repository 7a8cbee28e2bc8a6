// A program to be killed: private servers in the folder given, then nothing.
import { startPrivateServices } from '../src/private-services.ts';

await startPrivateServices({ dir: process.argv[2] as string, durable: false, say: () => {} });
process.stdout.write('started\n');
setInterval(() => {}, 60_000);
