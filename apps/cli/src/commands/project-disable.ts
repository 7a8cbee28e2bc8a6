import { changeProject } from '@hqrelay/actions/project/change-project';
import { changeCommand, projectTarget } from '../change-command.ts';

export const addProjectDisable = changeCommand({
  verb: 'disable',
  description: 'answer 401 to every webhook of the project',
  target: projectTarget,
  action: (deps, id) => changeProject(deps, id, 'disable', { enabled: false }),
  sentence: (saved) => `The project ${saved.name} is disabled: its webhooks are answered 401.`,
});
