import type { Row } from './row.ts';
import { blackHoles } from './rows/black-holes.ts';
import { endpointDown } from './rows/endpoint-down.ts';
import { endpointDownLong } from './rows/endpoint-down-long.ts';
import { endpointFlapping } from './rows/endpoint-flapping.ts';
import { endpointHanging } from './rows/endpoint-hanging.ts';
import { orderedRows } from './rows/ordered.ts';
import { oldBesideNew } from './rows/old-beside-new.ts';
import { pauseResumeKills } from './rows/pause-resume-kills.ts';
import { rabbitmqAlarm } from './rows/rabbitmq-alarm.ts';
import { receiverKill } from './rows/receiver-kill.ts';
import { redisFlushed } from './rows/redis-flushed.ts';
import { redisOldData } from './rows/redis-old-data.ts';
import { sigterm } from './rows/sigterm.ts';
import { silentWorkers } from './rows/silent-workers.ts';
import {
  everythingStopped,
  postgresStopped,
  rabbitmqAndPostgresStopped,
  rabbitmqKill,
  rabbitmqRestart,
  redisStopped,
} from './rows/store-outages.ts';
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
  redisOldData,
  rabbitmqAndPostgresStopped,
  everythingStopped,
  ...blackHoles,
  ...silentWorkers,
  endpointDown,
  endpointDownLong,
  endpointHanging,
  endpointFlapping,
  pauseResumeKills,
  sigterm,
  ...orderedRows,
  oldBesideNew,
];
