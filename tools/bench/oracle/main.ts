// `npm run bench -- --oracle` compares the times of refused requests: they must not tell which projects exist.
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import { seedProject, seedSecret } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import { Redis } from 'ioredis';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startFleet } from '../../harness/fleet.ts';
import { createTimedPost, type TimedPost } from './timed-post.ts';

/** The median time of one kind of refused request, and its distance from that of an unknown project. */
type OracleLine = { bodyBytes: number; name: string; medianMs: number; differenceMs: number };

type Case = { name: string; projectId: string; signature: string | undefined };

const rounds = { small: 1_000, large: 300 };
const bodies = [
  { bytes: 1_024, rounds: rounds.small },
  { bytes: 1 << 20, rounds: rounds.large },
];
const warmUpRounds = 30;

/** Measures all cases in turn, in a random order in each round, over one connection. Throws when two answers differ. */
export async function measureOracle(
  services: DurableServices,
  say: (line: string) => void,
): Promise<OracleLine[]> {
  const world = await createWorld(services.urls);
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const fleet = await startFleet({
    from: apps,
    receivers: 1,
    workers: 0,
    env: world.env,
    logFolder: services.folder,
  });
  const url = `${fleet.receivers[0]!.url}/v1/webhooks`;
  const post = createTimedPost();
  try {
    const cases = await createCases(world);
    const lines: OracleLine[] = [];
    for (const { bytes, rounds: count } of bodies) {
      say(`${count} rounds of ${cases.length} requests of ${bytes} bytes`);
      lines.push(...(await measure(post, url, cases, Buffer.alloc(bytes, 0x61), count)));
    }
    return lines;
  } finally {
    post.close();
    await fleet.end();
    await world.close();
  }
}

async function createCases(world: World): Promise<Case[]> {
  const [one, two, disabled] = [await seedProject(world), await seedProject(world), await seedProject(world)];
  await seedSecret(world, { projectId: two.id, secret: 'another', overlapMs: 3_600_000 });
  await world.sql.query('update projects set enabled = false where id = $1', [disabled.id]);
  const redis = new Redis(world.redisUrl);
  for (const project of [two, disabled]) await announceProjectChange(redis, project.id);
  redis.disconnect();
  const wrong = `sha256=${createHash('sha256').update('wrong').digest('hex')}`;
  return [
    { name: 'unknown', projectId: randomUUID(), signature: wrong },
    { name: 'unknown, another id', projectId: randomUUID(), signature: wrong },
    { name: 'disabled', projectId: disabled.id, signature: wrong },
    { name: 'wrong signature, one secret', projectId: one.id, signature: wrong },
    { name: 'wrong signature, two secrets', projectId: two.id, signature: wrong },
    { name: 'unknown, no signature', projectId: randomUUID(), signature: undefined },
    { name: 'no signature, two secrets', projectId: two.id, signature: undefined },
  ];
}

async function measure(
  post: TimedPost,
  url: string,
  cases: readonly Case[],
  body: Buffer,
  count: number,
): Promise<OracleLine[]> {
  const times = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  const answers = new Set<string>();
  for (let round = -warmUpRounds; round < count; round += 1) {
    for (const { name, projectId, signature } of shuffled(cases)) {
      const { durationMs, answer } = await post.send(`${url}/${projectId}`, body, signature);
      answers.add(answer);
      if (round >= 0) times.get(name)!.push(durationMs);
    }
  }
  if (answers.size !== 1) throw new Error(`the answers differ:\n${[...answers].join('\n')}`);
  const unknownMs = medianOf(times.get('unknown')!);
  return cases.map(({ name }) => {
    const medianMs = medianOf(times.get(name)!);
    return { bodyBytes: body.length, name, medianMs, differenceMs: medianMs - unknownMs };
  });
}

function shuffled<T>(items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0] as T);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
