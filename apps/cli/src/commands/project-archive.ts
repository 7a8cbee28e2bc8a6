import { archiveProject } from '@hqrelay/actions/project/archive-project';
import { changeCommand, projectTarget } from '../change-command.ts';

export const addProjectArchive = changeCommand({
  verb: 'archive',
  description: 'disable and hide the project and its endpoints, for good; its webhooks stay in the books',
  target: projectTarget,
  action: archiveProject,
  sentence: (saved) =>
    `The project ${saved.name} is archived: its webhooks are answered 401, and nothing is sent to its endpoints any more.`,
});
