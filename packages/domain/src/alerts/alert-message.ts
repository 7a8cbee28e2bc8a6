import type { AlertType } from './alert-kind.ts';

/** A message as it is sent. Times are ms since epoch. */
export type AlertMessage = {
  id: string;
  /** Null: a mail to the operator. */
  ruleId: string | null;
  type: AlertType;
  state: 'firing' | 'recovered';
  isReminder: boolean;
  projectId: string;
  projectName: string;
  endpointId: string | null;
  /** Without the values of secret parameters. */
  endpointUrl: string | null;
  count: number;
  reason: string;
  firstAt: number | null;
  lastAt: number | null;
  /** Webhooks. */
  firstExampleId: string | null;
  lastExampleId: string | null;
  createdAt: number;
};

/** Counts stop here. */
export const countMax = 100_000;

/** The page of the console that shows what a message is about. */
export function consoleUrlOfAlert(
  consoleUrl: string,
  { type, projectId, endpointId }: Pick<AlertMessage, 'type' | 'projectId' | 'endpointId'>,
): string {
  const project = `${consoleUrl}/projects/${projectId}`;
  switch (type) {
    case 'dead_letter':
      return `${project}/dead-letters${endpointId === null ? '' : `?endpointId=${endpointId}`}`;
    case 'endpoint_failing':
    case 'endpoint_recovered':
    case 'endpoint_disabled':
    case 'backlog_growing':
      return endpointId === null ? `${project}/endpoints` : `${project}/endpoints/${endpointId}`;
    case 'signature_rejections':
      return `${project}/webhooks?status=rejected`;
    case 'rate_limit_near':
      return `${project}/webhooks?status=rate_limited`;
    case 'project_silent':
    case 'test':
    case 'channel_broken':
      return project;
  }
}

/** The message in one line. */
export function titleOf({ type, state, count }: Pick<AlertMessage, 'type' | 'state' | 'count'>): string {
  const [firing, recovered] = titles[type];
  return state === 'recovered' ? recovered : firing(formatCount(count), count);
}

function formatCount(count: number): string {
  return count > countMax ? `over ${countMax.toLocaleString('en')}` : count.toLocaleString('en');
}

type Titles = [firing: (formatted: string, count: number) => string, recovered: string];

const plural = (count: number, one: string) => (count === 1 ? one : `${one}s`);

const titles: Readonly<Record<AlertType, Titles>> = {
  dead_letter: [(n, count) => `${n} dead ${plural(count, 'letter')}`, 'No dead letter is open'],
  endpoint_failing: [() => 'An endpoint is failing', 'The endpoint works again'],
  endpoint_recovered: [() => 'An endpoint is failing', 'The endpoint works again'],
  endpoint_disabled: [() => 'An endpoint is disabled: it answered 410', 'The endpoint is enabled again'],
  signature_rejections: [
    (n, count) => `${n} ${plural(count, 'request')} rejected for the signature`,
    'Requests are rejected no more',
  ],
  rate_limit_near: [() => 'The rate limit is near', 'The rate limit is not near any more'],
  project_silent: [() => 'No webhooks arrive', 'Webhooks arrive again'],
  backlog_growing: [(n) => `${n} deliveries wait, and more join them`, 'The backlog is worked off'],
  test: [() => 'This is a test', 'This is a test'],
  channel_broken: [
    (n, count) => `${n} alert ${plural(count, 'channel')} cannot be reached`,
    'The alert channels work again',
  ],
};
