import { describe, expect, it } from 'vitest';
import { variables, type VariableName } from './env-variables.ts';
import { ConfigError, describeConfig, loadConfig } from './env.ts';

const key = Buffer.alloc(32, 7).toString('base64');
const names = Object.keys(variables) as VariableName[];
const required = {
  DATABASE_URL: 'postgres://app:pa55word@db.internal:5432/hqrelay',
  REDIS_URL: 'rediss://:pa55word@cache.internal',
  RABBITMQ_URL: 'amqp://u:pa55word@a.internal, amqps://u:pa55word@b.internal/vhost',
  HQRELAY_SECRETS_KEY: key,
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(names, { ...required, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('unset variables have their defaults', () => {
    expect(loadConfig(names, required)).toEqual({
      databaseUrl: required.DATABASE_URL,
      migrationDatabaseUrl: required.DATABASE_URL,
      receiverDatabaseUrl: required.DATABASE_URL,
      workerDatabaseUrl: required.DATABASE_URL,
      consoleDatabaseUrl: required.DATABASE_URL,
      redisUrl: required.REDIS_URL,
      rabbitmqUrls: ['amqp://u:pa55word@a.internal', 'amqps://u:pa55word@b.internal/vhost'],
      secretsKey: key,
      receiverPort: 3000,
      receiverAdminPort: undefined,
      workerPort: 3001,
      consolePort: 3002,
      consoleUrl: undefined,
      consoleFrameAncestors: [],
      publicUrl: undefined,
      receiverUrl: undefined,
      trustProxy: false,
      logLevel: 'info',
      otlpProtocol: 'http/protobuf',
      bodyBytesMax: 1_048_576,
      deliveryTimeoutMs: 10_000,
      configCacheTtlSeconds: 300,
      allowPrivateEndpoints: false,
      allowEndpointCidrs: [],
      egressProxy: undefined,
      payloadRetentionDays: undefined,
      anthropicBaseUrl: 'https://api.anthropic.com',
      insightsModel: 'claude-sonnet-5-5',
    });
  });

  it('variables that are not asked for are not read', () => {
    expect(loadConfig(['WORKER_PORT'], { WORKER_PORT: '4001', LOG_LEVEL: 'nonsense' })).toEqual({
      workerPort: 4001,
    });
  });

  it('DATABASE_URL is read in place of an unset URL of one app, and is not required otherwise', () => {
    const own = 'postgres://receiver@db.internal/hqrelay';
    expect(loadConfig(['RECEIVER_DATABASE_URL'], { ...required, RECEIVER_DATABASE_URL: own })).toEqual({
      receiverDatabaseUrl: own,
    });
    expect(loadConfig(['RECEIVER_DATABASE_URL'], { RECEIVER_DATABASE_URL: own })).toEqual({
      receiverDatabaseUrl: own,
    });
    expect(loadConfig(['RECEIVER_DATABASE_URL'], { DATABASE_URL: required.DATABASE_URL })).toEqual({
      receiverDatabaseUrl: required.DATABASE_URL,
    });
    const load = () => loadConfig(['RECEIVER_DATABASE_URL', 'WORKER_DATABASE_URL'], {});
    expect(load).toThrow(new ConfigError(['DATABASE_URL is required but not set']));
  });

  it('all problems of the environment are named at once', () => {
    const load = () => loadConfig(names, { RECEIVER_PORT: 'abc', LOG_LEVEL: '' });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(
      /DATABASE_URL is required(.|\n)*REDIS_URL is required(.|\n)*RABBITMQ_URL is required(.|\n)*HQRELAY_SECRETS_KEY is required(.|\n)*RECEIVER_PORT: must be a whole number from 0 to 65535, not "abc"(.|\n)*LOG_LEVEL is set but empty/,
    );
  });

  it.each(names)('an empty %s is refused', (name) => {
    expect(problemsOf({ [name]: '' })).toEqual([expect.stringMatching(`^${name} is set but empty`)]);
    expect(problemsOf({ [name]: '  ' })).toEqual([expect.stringMatching(`^${name} is set but empty`)]);
  });

  it.each([
    ['DATABASE_URL', 'mysql://app:pa55word@db/x'],
    ['DATABASE_URL', 'postgres//app:pa55word@db/x'],
    ['MIGRATION_DATABASE_URL', 'postgres:pa55word'],
    ['REDIS_URL', 'http://:pa55word@cache'],
    ['RABBITMQ_URL', 'amqp://u:pa55word@a,,amqp://b'],
    ['RABBITMQ_URL', 'amqp://u:pa55word@a,pa55word'],
    ['HQRELAY_SECRETS_KEY', 'pa55word'],
    ['HQRELAY_SECRETS_KEY', `${key},`],
    ['RECEIVER_PORT', '65536'],
    ['RECEIVER_PORT', '3000 '],
    ['RECEIVER_ADMIN_PORT', '-1'],
    ['WORKER_PORT', '0x10'],
    ['CONSOLE_PORT', '1e3'],
    ['RECEIVER_URL', 'receiver:3000'],
    ['PUBLIC_URL', 'hooks.example.com'],
    ['PUBLIC_URL', 'https://hooks.example.com/?a=1'],
    ['PUBLIC_URL', 'https://user:pa55word@hooks.example.com'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'proxy.internal'],
    ['LOG_LEVEL', 'verbose'],
    ['BODY_BYTES_MAX', '0'],
    ['BODY_BYTES_MAX', '1mb'],
    ['BODY_BYTES_MAX', '99999999'],
    ['DELIVERY_TIMEOUT_MS', '1.5'],
    ['DELIVERY_TIMEOUT_MS', '30001'],
    ['ALLOW_PRIVATE_ENDPOINTS', 'TRUE'],
    ['ALLOW_ENDPOINT_CIDRS', '10.0.0.0/33'],
    ['ALLOW_ENDPOINT_CIDRS', 'fe80::1%eth0/64'],
    ['TRUST_PROXY', '10.0.0.0/8/8'],
    ['CONFIG_CACHE_TTL_SECONDS', '0'],
    ['ALLOW_PRIVATE_ENDPOINTS', 'yes'],
    ['ALLOW_ENDPOINT_CIDRS', '10.0.0.1'],
    ['ALLOW_ENDPOINT_CIDRS', '10.0.0.0/8,'],
    ['DNS_SERVERS', 'dns.example'],
    ['DNS_SERVERS', '10.0.0.2,'],
    ['DNS_SERVERS', '10.0.0.2:99999'],
    ['EGRESS_PROXY', 'socks5://u:pa55word@proxy'],
    ['PAYLOAD_RETENTION_DAYS', 'forever'],
    ['ANTHROPIC_API_KEY', 'sk pa55word'],
    ['ANTHROPIC_BASE_URL', 'api.anthropic.com'],
    ['INSIGHTS_MODEL', 'a model'],
  ] satisfies [VariableName, string][])('%s=%s is refused without repeating a secret', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toEqual([expect.stringMatching(`^${name}: `)]);
    if (variables[name].shown !== 'value') expect(problems.join()).not.toContain('pa55word');
  });

  it.each([
    ['false', false],
    ['0', 0],
    ['2', 2],
    ['loopback, 10.0.0.0/8,fd00::1', ['loopback', '10.0.0.0/8', 'fd00::1']],
  ])('TRUST_PROXY=%s is parsed for Express', (text, trustProxy) => {
    expect(loadConfig(['TRUST_PROXY'], { TRUST_PROXY: text })).toEqual({ trustProxy });
  });

  it('DNS_SERVERS may have ports', () => {
    const servers = '10.0.0.2, 10.0.0.3:5353,fd00::53,[fd00::53]:5353';
    expect(loadConfig(['DNS_SERVERS'], { DNS_SERVERS: servers })).toEqual({
      dnsServers: ['10.0.0.2', '10.0.0.3:5353', 'fd00::53', '[fd00::53]:5353'],
    });
  });

  it('the trailing slash of PUBLIC_URL is removed', () => {
    const { publicUrl } = loadConfig(['PUBLIC_URL'], { PUBLIC_URL: 'https://hooks.example.com/relay/' });
    expect(publicUrl).toBe('https://hooks.example.com/relay');
  });
});

describe('describeConfig', () => {
  it('a described config shows secrets as set and URLs without their passwords', () => {
    const described = describeConfig(
      loadConfig(names, { ...required, EGRESS_PROXY: 'http://u:pa55word@proxy:3128' }),
    );
    expect(described).toMatchObject({ secretsKey: 'set', receiverPort: 3000, publicUrl: 'unset' });
    expect(described['rabbitmqUrls']).toMatch(/a\.internal.*b\.internal/);
    expect(JSON.stringify(described)).not.toContain('pa55word');
    expect(JSON.stringify(described)).not.toContain(key);
  });
});
