import { alertVariables } from './alert-variables.ts';
import { insightVariables } from './insight-variables.ts';
import { listeningVariables } from './listening-variables.ts';
import { outgoingVariables } from './outgoing-variables.ts';
import { storeVariables } from './store-variables.ts';

/** Every environment variable that the programs read, with its documentation. */
export const variables = {
  ...storeVariables,
  ...listeningVariables,
  ...outgoingVariables,
  ...alertVariables,
  ...insightVariables,
} as const;

export type VariableName = keyof typeof variables;
