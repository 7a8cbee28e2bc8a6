import { forgedRequest, type Attack } from '../attack.ts';

/** Each unknown id is looked up in the stores before anything can be verified. */
export const randomProjectIds: Attack = {
  name: 'random-project-ids',
  what: 'forged requests to projects that do not exist, each to another',
  sockets: 60,
  opensPerSecond: 100,
  open: () => {},
  again: {
    everyMs: 100,
    send: ({ write, count }) => {
      write(forgedRequest());
      count();
    },
  },
};
