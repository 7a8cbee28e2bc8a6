import { changeProject } from '@hqrelay/actions/project/change-project';
import { changeCommand, projectTarget } from '../change-command.ts';

export const addProjectEnable = changeCommand({
  verb: 'enable',
  description: 'accept webhooks again',
  target: projectTarget,
  action: (deps, id) => changeProject(deps, id, 'enable', { enabled: true }),
  sentence: (saved) => `The project ${saved.name} accepts webhooks.`,
});
