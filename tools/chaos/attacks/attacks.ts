import type { Attack } from './attack.ts';
import { connectionFlood } from './attackers/connection-flood.ts';
import { headerBombs } from './attackers/header-bombs.ts';
import { oneByteChunks } from './attackers/one-byte-chunks.ts';
import { randomProjectIds } from './attackers/random-project-ids.ts';
import { slowBodies } from './attackers/slow-bodies.ts';
import { slowHeaders } from './attackers/slow-headers.ts';

/** In the order they are run and printed. */
export const attacks: readonly Attack[] = [
  slowHeaders,
  slowBodies,
  oneByteChunks,
  headerBombs,
  randomProjectIds,
  connectionFlood,
];
