import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AppSource } from '@hqrelay/services/app-process';
import type { DurableServices } from '../../harness/durable-services.ts';
import { whyNotInjected, type InjectedFault } from '../faults/injected-fault.ts';
import { openOrderSite, type OrderSite } from './order-site.ts';
import { searchProcesses, type SearchOptions } from './search-processes.ts';
import { searchStatements } from './search-statements.ts';

export type OrderSearch = SearchOptions & { services: DurableServices; apps: AppSource };

/** Schedules in which a worker crashes between two statements. */
const statementSchedules = 20;
const guardSchedules = 50;

/**
 * Searches random schedules for one after which a key arrives out of order: at the statements of a worker in this process, then
 * at processes and servers that are killed. Then workers post without their turn, and the search must find that. Returns
 * whether all is as it should be.
 */
export async function searchOrder(search: OrderSearch): Promise<boolean> {
  const { seed, path, say } = search;
  if (path === undefined) {
    say(`${statementSchedules} schedules of crashes between two statements`);
    if (!(await searchStatements({ seed, schedules: statementSchedules }))) return false;
  }
  say(`${search.schedules} schedules of killed processes and servers, ten at a time`);
  const report = await withSite(search, undefined, (site) => searchProcesses(site, search));
  if (report !== undefined) {
    say(report);
    return false;
  }
  return path !== undefined || findsMissingTurns(search);
}

async function findsMissingTurns(search: OrderSearch): Promise<boolean> {
  const { services, say } = search;
  say('Now workers post without their turn');
  const fault = { name: 'turn', log: join(services.folder, 'fault-turn.log') };
  const options = { ...search, schedules: guardSchedules, endOnFailure: true };
  const report = await withSite(search, fault, (site) => searchProcesses(site, options));
  const problem =
    whyNotInjected(fault) ??
    (report?.includes('arrived after') ? undefined : `no round broke the order: ${report ?? 'none failed'}`);
  say(problem ?? 'the search finds it');
  return problem === undefined;
}

async function withSite<T>(
  { services, apps }: OrderSearch,
  fault: InjectedFault | undefined,
  work: (site: OrderSite) => Promise<T>,
): Promise<T> {
  const logFolder = join(services.folder, fault ? `order-without-${fault.name}` : 'order');
  mkdirSync(logFolder);
  const site = await openOrderSite({ services, apps, logFolder, ...(fault && { fault }) });
  try {
    return await work(site);
  } finally {
    await site.close();
  }
}
