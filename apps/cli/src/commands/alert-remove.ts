import { removeAlert } from '@hqrelay/actions/alert/change-alert';
import { changeCommand } from '../change-command.ts';

export const addAlertRemove = changeCommand({
  verb: 'remove',
  description: 'end an alert for good; the rows of its messages stay',
  target: ['<alert-id>', 'the alert'],
  action: removeAlert,
  sentence: ({ id }) => `Removed the alert ${id}.`,
});
