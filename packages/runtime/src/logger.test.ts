import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';

function logged(fields: object): { line: string; json: Record<string, never> } {
  let line = '';
  const logger = createLogger({ name: 'test', level: 'info' }, { write: (text: string) => (line += text) });
  logger.info(fields, 'event');
  return { line, json: JSON.parse(line) };
}

describe('a log line', () => {
  it('a log line names the app, the level and the event', () => {
    expect(logged({ projectId: 'p' }).json).toMatchObject({
      name: 'test',
      level: 'info',
      msg: 'event',
      projectId: 'p',
    });
  });

  it.each(['secret', 'signingSecret', 'password'])(
    'a log line never contains the value of a field named %s',
    (field) => {
      expect(logged({ [field]: 'pa55word' }).line).not.toContain('pa55word');
      expect(logged({ project: { [field]: 'pa55word' } }).line).not.toContain('pa55word');
    },
  );

  it.each(['authorization', 'cookie', 'x-api-key'])(
    'a log line never contains the value of the header %s',
    (header) => {
      expect(logged({ headers: { [header]: 'pa55word' } }).line).not.toContain('pa55word');
      expect(logged({ request: { headers: { [header]: 'pa55word' } } }).line).not.toContain('pa55word');
    },
  );

  it('a logged error has its code and its causes, but not the credentials of a URL', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED amqp://user:pa55word@mq:5672/v'), {
      code: 'ECONNREFUSED',
    });
    const { line, json } = logged({ err: new Error('cannot reach postgres://u:pa55word@db/x', { cause }) });
    expect(json['err']).toMatchObject({
      message: 'cannot reach postgres://***@db/x',
      stack: expect.stringContaining('logger.test.ts'),
      cause: { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED amqp://***@mq:5672/v' },
    });
    expect(line).not.toContain('pa55word');
  });

  it('a logged error has neither the parameters of a failed query nor the arguments of a failed command', () => {
    const failedQuery = new Error('Failed query: insert into t values ($1)\nparams: pa55word\nmore pa55word');
    const failedCommand = Object.assign(new Error('ERR'), {
      command: { name: 'set', args: ['k', 'pa55word'] },
    });
    expect(logged({ err: failedQuery }).line).toContain('insert into t');
    expect(logged({ err: failedQuery }).line).not.toContain('pa55word');
    expect(logged({ err: failedCommand }).line).not.toContain('pa55word');
  });

  it('an error that is its own cause can be logged', () => {
    const error = new Error('round');
    error.cause = error;
    expect(logged({ err: error }).json['err']).toMatchObject({ message: 'round' });
  });
});
