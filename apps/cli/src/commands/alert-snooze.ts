import { snoozeAlert } from '@hqrelay/actions/alert/change-alert';
import type { AlertRule } from '@hqrelay/db/queries/alert-rules';
import { changeCommand } from '../change-command.ts';
import { comingMoment } from '../options/alert-options.ts';
import { formatTime } from '../output/print.ts';

export const addAlertSnooze = changeCommand<AlertRule, { until: number }>({
  verb: 'snooze',
  description: 'send nothing of an alert until then',
  target: ['<alert-id>', 'the alert'],
  addOptions: (command) =>
    command.requiredOption('--until <time>', 'a time, or a duration such as 4h', comingMoment),
  action: (deps, id, { until }) => snoozeAlert(deps, id, new Date(until)),
  sentence: ({ id, snoozedUntil }) =>
    `The alert ${id} sends nothing until ${snoozedUntil ? formatTime(snoozedUntil) : 'now'}.`,
});
