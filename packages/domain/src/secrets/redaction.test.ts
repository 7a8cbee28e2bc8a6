import { describe, expect, it } from 'vitest';
import { redactPaths, redactQuery, redactUrl } from './redaction.ts';

describe('redactUrl', () => {
  it.each([
    ['postgres://app:hunter2@db:5432/hqrelay', 'postgres://app:***@db:5432/hqrelay'],
    ['rediss://:hunter2@cache:6380/0', 'rediss://:***@cache:6380/0'],
    ['amqps://u:hunter2@mq/%2Fv?heartbeat=5', 'amqps://u:***@mq/%2Fv?heartbeat=5'],
    ['amqp://u:hunter2@a,amqp://u:hunter2@b', 'amqp://u:***@a,amqp://u:***@b'],
    ['amqp://u:hunter2@a, amqp://u:hunter2@b', 'amqp://u:***@a,amqp://u:***@b'],
    ['amqp://u:hunter,2@a,amqp://b', 'amqp://u:***@a,amqp://b'],
    ['postgres://db/x?user=app&password=hunter2', 'postgres://db/x?user=app&password=***'],
    ['postgres://db/x?password=hunter2&password=hunter2', 'postgres://db/x?password=***'],
    ['https://x.example/hook?token=hunter2#a', 'https://x.example/hook?token=***#a'],
    ['postgres://u:hunter2@a:1,b:2/x', 'postgres://***@a:1,b:2/x'],
    ['postgres://u:hun/ter2@db/x', 'postgres://***@db/x'],
    ['postgres://u:12/hunter2@db/x', 'postgres://***@db/x'],
    ['postgres://u:hunter2@host name/x?password=hunter2', 'postgres://***@host name/x?***'],
    ['redis://u:hun@ter2@cache', 'redis://u:***@cache'],
  ])('the secrets of URL %# are redacted', (url, redacted) => {
    expect(redactUrl(url)).toBe(redacted);
  });

  it.each([
    'postgres://app@db:5432/hqrelay?sslmode=require',
    'redis://127.0.0.1:6379',
    'amqp://a,amqp://b',
    'https://x.example/@user/hook?a=b',
    'https://x.example',
  ])('the URL %s, which has no secret, is unchanged', (url) => {
    expect(redactUrl(url)).toBe(url);
  });

  it.each(['', 'hunter2', 'u:hunter2@db', '//u:hunter2@db', 'hunter2:', '\0'])(
    'the text %j, which is not a URL, is redacted entirely',
    (text) => {
      expect(redactUrl(text)).toBe('(not a URL)');
    },
  );

  it('the secrets of a URL of 1.6 MB are redacted', () => {
    const redacted = redactUrl(`postgres://u:${'hunter2@'.repeat(200_000)}db`);
    expect(redacted).not.toContain('hunter2');
  });
});

describe('redactQuery', () => {
  it.each([
    ['', ''],
    ['a=b&c', 'a=b&c'],
    ['token=hunter2&a=b', 'token=***&a=b'],
    ['?a=b&api_key=hunter2', '?a=b&api_key=***'],
    ['%74oken=hunter2', '%74oken=***'],
    ['sig=hunter2&code=hunter2&jwt=hunter2', 'sig=***&code=***&jwt=***'],
    ['token=hunter2=hunter2', 'token=***'],
    ['%E0%A4%A=1&token=hunter2', '%E0%A4%A=1&token=***'],
  ])('the query %j is redacted to %j', (query, redacted) => {
    expect(redactQuery(query)).toBe(redacted);
  });
});

describe('redactPaths', () => {
  it('the redacted paths cover secrets and headers in a log line and in the objects it may contain', () => {
    for (const path of [
      'secret',
      'headers',
      'password',
      'endpoint.secrets',
      'req.headers',
      'config.secretsKey',
    ]) {
      expect(redactPaths).toContain(path);
    }
  });

  it('the redacted paths have no wildcards, which make every log line slower', () => {
    for (const path of redactPaths) expect(path).toMatch(/^[A-Za-z]+(\.[A-Za-z]+)?$/);
    expect(new Set(redactPaths).size).toBe(redactPaths.length);
  });
});
