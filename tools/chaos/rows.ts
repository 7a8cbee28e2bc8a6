import type { Row } from './row.ts';
import { blackHoles } from './rows/black-holes.ts';
import { endpointDown } from './rows/endpoint-down.ts';
import { endpointDownLong } from './rows/endpoint-down-long.ts';
import { endpointFlapping } from './rows/endpoint-flapping.ts';
import { endpointHanging } from './rows/endpoint-hanging.ts';
import { everythingStopped } from './rows/everything-stopped.ts';
import { pauseResumeKills } from './rows/pause-resume-kills.ts';
import { postgresStopped } from './rows/postgres-stopped.ts';
import { rabbitmqAlarm } from './rows/rabbitmq-alarm.ts';
import { rabbitmqAndPostgresStopped } from './rows/rabbitmq-and-postgres-stopped.ts';
import { rabbitmqKill } from './rows/rabbitmq-kill.ts';
import { rabbitmqRestart } from './rows/rabbitmq-restart.ts';
import { receiverKill } from './rows/receiver-kill.ts';
import { redisFlushed } from './rows/redis-flushed.ts';
import { redisStopped } from './rows/redis-stopped.ts';
import { sigterm } from './rows/sigterm.ts';
import { workerKill } from './rows/worker-kill.ts';

/** The failure matrix, in the order it is run and printed. */
export const rows: readonly Row[] = [
  receiverKill,
  workerKill,
  rabbitmqRestart,
  rabbitmqKill,
  rabbitmqAlarm,
  postgresStopped,
  redisStopped,
  redisFlushed,
  rabbitmqAndPostgresStopped,
  everythingStopped,
  ...blackHoles,
  endpointDown,
  endpointDownLong,
  endpointHanging,
  endpointFlapping,
  pauseResumeKills,
  sigterm,
];
