// `npm run bench -- --profile` shows where the processes of the product and of the bare pipeline spend their CPU.
import { mkdirSync, readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startGenerator, startSink } from '../children.ts';
import { createBare } from '../bare-pipeline.ts';
import type { PipelineName } from '../pipelines.ts';
import { createProduct } from '../product-pipeline.ts';
import { measureRound } from '../round.ts';
import { timesByArea, timesByFunction, type SelfTimes } from './self-times.ts';

/** What one area or one function costs, µs of self time for each webhook. */
export type ProfileLine = { app: App; name: string; product: number; bare: number };

type App = 'receiver' | 'worker';
type Profiles = Record<App, Profiler.Profile> & { webhooks: number };

const plan = { warmUpSeconds: 12, seconds: 8, connections: 64 };
const shownFromUs = 1;

/** Every area and function that costs a microsecond, most expensive first. */
export async function measureProfiles(
  services: DurableServices,
): Promise<{ areas: ProfileLine[]; functions: ProfileLine[] }> {
  const [sink, generator] = [await startSink(), startGenerator()];
  const options = {
    services,
    apps: copyBuiltApps(join(services.folder, 'apps')),
    sinkUrl: sink.url,
    preload: [join(import.meta.dirname, 'record.mjs')],
  };
  const profile = async (name: PipelineName, create: typeof createProduct): Promise<Profiles> => {
    const folder = join(services.folder, 'profiles', name);
    mkdirSync(folder, { recursive: true });
    const pipeline = await create({ ...options, env: { PROFILE_FOLDER: folder } });
    await measureRound(pipeline, { services, sink, generator, ...plan });
    await pipeline.close();
    const read = (app: App) =>
      JSON.parse(readFileSync(join(folder, `${app}.cpuprofile`), 'utf8')) as Profiler.Profile;
    return { receiver: read('receiver'), worker: read('worker'), webhooks: await sink.count() };
  };
  try {
    const product = await profile('product', createProduct);
    const bare = await profile('bare', createBare);
    return { areas: compare(product, bare, timesByArea), functions: compare(product, bare, timesByFunction) };
  } finally {
    sink.end();
    generator.end();
  }
}

function compare(
  product: Profiles,
  bare: Profiles,
  times: (profile: Profiler.Profile) => SelfTimes,
): ProfileLine[] {
  return (['receiver', 'worker'] as const).flatMap((app) => {
    const [ours, theirs] = [times(product[app]), times(bare[app])];
    const lines = [...new Set([...ours.keys(), ...theirs.keys()])].map((name) => ({
      app,
      name,
      product: (ours.get(name) ?? 0) / product.webhooks,
      bare: (theirs.get(name) ?? 0) / bare.webhooks,
    }));
    return lines
      .filter((line) => Math.max(line.product, line.bare) >= shownFromUs)
      .toSorted((a, b) => b.product - a.product);
  });
}
