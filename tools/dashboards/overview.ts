import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { createDashboard, figure, linkTo, timeSeries } from './panels.ts';

const received = 'hqrelay_webhooks_received_total';
const attempts = 'hqrelay_delivery_attempts_total';
const rate = (metric: string, by?: string) =>
  `sum${by ? ` by (${by})` : ''} (rate(${metric}[$__rate_interval]))`;
const quantile = (share: number, histogram: string) =>
  `histogram_quantile(${share}, sum by (le) (rate(${histogram}_bucket[$__rate_interval])))`;
const quantiles = (histogram: string) => ({
  p50: quantile(0.5, histogram),
  p95: quantile(0.95, histogram),
  p99: quantile(0.99, histogram),
});
const failed = `${rate(`${attempts}{outcome!="delivered"}`)} / ${rate(attempts)}`;

/** *Relay overview*: whether webhooks come in and go out, and what waits. */
export function overview() {
  const dashboard = createDashboard('Relay overview')
    .uid('hqrelay-overview')
    .description('Whether webhooks come in and go out, and what waits. The runbook: docs/runbook.md.')
    .time({ from: 'now-1h', to: 'now' })
    .refresh('15s')
    .link(linkTo('Projects and endpoints', '/d/hqrelay-projects'));
  dashboard.withRow(new RowBuilder('Now'));
  for (const panel of figures()) dashboard.withPanel(panel.span(4).height(4));
  dashboard.withRow(new RowBuilder('In and out'));
  for (const panel of flow()) dashboard.withPanel(panel.span(8).height(8));
  dashboard.withRow(new RowBuilder('What waits'));
  for (const panel of waiting()) dashboard.withPanel(panel.span(8).height(8));
  dashboard.withRow(new RowBuilder('Dependencies and processes'));
  for (const panel of processes()) dashboard.withPanel(panel.span(8).height(8));
  return dashboard;
}

const figures = () => [
  figure({
    title: 'Accepted',
    description: 'New webhooks that were answered 202.',
    unit: 'reqps',
    series: { accepted: rate(`${received}{outcome="queued"}`) },
  }),
  figure({
    title: 'Delivered',
    description: 'Attempts that endpoints answered with a 2xx.',
    unit: 'reqps',
    series: { delivered: rate(`${attempts}{outcome="delivered"}`) },
  }),
  figure({
    title: 'Failed attempts',
    description: 'The share of attempts that failed; most are retried. Alert: DeliveriesFailing.',
    unit: 'percentunit',
    series: { failed },
    badFrom: 0.2,
  }),
  figure({
    title: 'Oldest new webhook',
    description: 'How long the oldest message of hqrelay.webhooks waits. Alert: OldestMessageTooOld.',
    unit: 's',
    series: { age: 'max(hqrelay_queue_oldest_age_seconds{queue="hqrelay.webhooks"})' },
    badFrom: 60,
  }),
  figure({
    title: 'Dead letters',
    description: 'Deliveries that used up their schedules and were not replayed. Alert: DeadLettersRising.',
    unit: 'short',
    series: { 'dead letters': 'max(hqrelay_dead_letters)' },
    badFrom: 1,
  }),
  figure({
    title: 'Dependencies down',
    description: 'Stores that at least one process cannot use. Alert: DependencyDown.',
    unit: 'short',
    series: { down: 'count(min by (dependency) (hqrelay_dependency_up) == 0) or vector(0)' },
    badFrom: 1,
  }),
];

const flow = () => [
  timeSeries({
    title: 'Received',
    description: 'Requests of providers by outcome. failed_to_queue was answered 503: WebhooksRefused.',
    unit: 'reqps',
    series: { '{{outcome}}': rate(received, 'outcome') },
  }),
  timeSeries({
    title: 'Attempts',
    description:
      'HTTP requests to endpoints by outcome. A failed attempt is retried; a dead-lettered one was the last.',
    unit: 'reqps',
    series: { '{{outcome}}': rate(attempts, 'outcome') },
  }),
  timeSeries({
    title: 'Retry rate',
    description: 'The share of attempts that failed.',
    unit: 'percentunit',
    series: { failed },
    warnAt: 0.2,
  }),
  timeSeries({
    title: 'Received to delivered',
    description: 'From the receipt of a webhook to its delivery, retries included, replays left out.',
    unit: 's',
    series: quantiles('hqrelay_end_to_end_seconds'),
  }),
  timeSeries({
    title: 'Answers to providers',
    description: 'How long providers wait for their answer. They give up after 3 s.',
    unit: 's',
    series: {
      ...quantiles('hqrelay_receive_duration_seconds'),
      'confirm of the broker, p99': quantile(0.99, 'hqrelay_publish_confirm_seconds'),
    },
    warnAt: 2.5,
  }),
  timeSeries({
    title: 'Duration of attempts',
    description: 'How long endpoints take to answer.',
    unit: 's',
    series: quantiles('hqrelay_delivery_duration_seconds'),
  }),
];

const waiting = () => [
  timeSeries({
    title: 'Waiting messages',
    description: 'Messages ready in each queue of RabbitMQ. Delay queues hold retries that are not due.',
    unit: 'short',
    series: { '{{queue}}': 'max by (queue) (hqrelay_queue_depth) > 0' },
  }),
  timeSeries({
    title: 'Oldest message',
    description: 'The age of the oldest message that waits in each work queue; 0 when it is empty.',
    unit: 's',
    series: { '{{queue}}': 'max by (queue) (hqrelay_queue_oldest_age_seconds)' },
    warnAt: 60,
  }),
  timeSeries({
    title: 'Held deliveries',
    description:
      'Deliveries that wait in Postgres, by reason: a long delay, a paused or disabled endpoint, order, an open breaker.',
    unit: 'short',
    series: { '{{reason}}': 'max by (reason) (hqrelay_held_deliveries)' },
  }),
  timeSeries({
    title: 'Dead letters',
    description: 'Deliveries that used up their schedules and were not replayed.',
    unit: 'short',
    series: { 'dead letters': 'max(hqrelay_dead_letters)' },
    warnAt: 1,
  }),
  timeSeries({
    title: 'Outbox and spill',
    description:
      'Messages that wait in Postgres for RabbitMQ, and messages with audit rows that wait in RabbitMQ for Postgres.',
    unit: 'short',
    series: {
      outbox: 'max(hqrelay_outbox_depth)',
      'audit spill': 'max(hqrelay_queue_depth{queue="hqrelay.audit"})',
    },
    warnAt: 1,
  }),
  timeSeries({
    title: 'Projects near their limits',
    description: 'Projects that used 80 % of their rate limit in the last minute. Alert: ProjectNearLimit.',
    unit: 'short',
    series: { projects: 'max(hqrelay_projects_near_limit)' },
    warnAt: 1,
  }),
  timeSeries({
    title: 'Silent projects and broken alert channels',
    description:
      'Projects that receive nothing at an hour in which they usually do, and alert rules that cannot send. Alerts: ProjectsSilent, AlertChannelsBroken.',
    unit: 'short',
    series: {
      'silent projects': 'max(hqrelay_silent_projects)',
      'broken channels': 'max(hqrelay_alert_channels_broken)',
    },
    warnAt: 1,
  }),
  timeSeries({
    title: 'Spilled audit rows',
    description: 'Audit rows that Postgres did not take at once and that went to hqrelay.audit.',
    unit: 'ops',
    series: { 'rows a second': rate('hqrelay_audit_spilled_total') },
  }),
];

const processes = () => [
  timeSeries({
    title: 'Dependencies',
    description: '1: every process of the kind can use the store. 0: at least one cannot.',
    unit: 'short',
    series: { '{{job}} {{dependency}}': 'min by (job, dependency) (hqrelay_dependency_up)' },
  }),
  timeSeries({
    title: 'Deliveries in flight',
    description: 'Messages that each worker works on.',
    unit: 'short',
    series: { '{{instance}}': 'hqrelay_deliveries_in_flight' },
  }),
  timeSeries({
    title: 'Open breakers',
    description:
      'Endpoints that fail and get one delivery at a time, as the worker that knows most of them sees it.',
    unit: 'short',
    series: { breakers: 'max(hqrelay_breakers_open)' },
  }),
  timeSeries({
    title: 'CPU',
    description: 'Cores that each process uses. One process uses one core at most.',
    unit: 'short',
    series: {
      '{{job}} {{instance}}': 'rate(process_cpu_seconds_total{job=~"hqrelay-.*"}[$__rate_interval])',
    },
    warnAt: 0.9,
  }),
  timeSeries({
    title: 'Memory',
    description: 'Resident memory of each process.',
    unit: 'bytes',
    series: { '{{job}} {{instance}}': 'process_resident_memory_bytes{job=~"hqrelay-.*"}' },
  }),
  timeSeries({
    title: 'Alarms of RabbitMQ',
    description: '1: RabbitMQ is short of memory or disk and takes no messages. Alert: BrokerAlarm.',
    unit: 'short',
    series: {
      memory: 'max by (instance) (rabbitmq_alarms_memory_used_watermark)',
      disk: 'max by (instance) (rabbitmq_alarms_free_disk_space_watermark)',
    },
    warnAt: 1,
  }),
  timeSeries({
    title: 'Clocks',
    description: "By how much each worker's clock differs from Postgres'. Alert: ClocksApart.",
    unit: 's',
    series: { '{{instance}}': 'abs(hqrelay_clock_offset_seconds)' },
    warnAt: 1,
  }),
  timeSeries({
    title: 'Partitions ahead',
    description:
      'Coming months that have partitions of every audit table. Alert, below 3: PartitionsMissing.',
    unit: 'short',
    series: { months: 'max(hqrelay_partitions_ahead)' },
  }),
  timeSeries({
    title: 'Event loop',
    description: 'The delay of the event loop of each process, p99. A busy process answers late.',
    unit: 's',
    series: { '{{job}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds{job=~"hqrelay-.*"}' },
    warnAt: 0.5,
  }),
];
