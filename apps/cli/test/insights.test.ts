import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { freshId } from '@hqrelay/testing/fresh-id';
import { messageOf, startModelServer } from '@hqrelay/testing/model/model-server';
import { startConnectProxy } from '@hqrelay/testing/network/connect-proxy';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const { sql, run, runWith, createProject, addEndpoint } = await openCliWorld();
const model = await startModelServer();
afterAll(() => model.close());

it('insights names the endpoint that fails and the cause, for people with an example and the SQL, and as JSON', async () => {
  const projectId = await createProject();
  const { endpointId } = await addEndpoint(projectId, 'http://127.0.0.1:9/hooks');
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  const responseBody = 'locked \u001b[31m\n\u202e"quoted"';
  await recordAttempt(sql, {
    projectId,
    webhookLogId,
    endpointId,
    statusCode: 500,
    error: 'HTTP 500',
    responseBody,
  });
  const { stdout, exitCode } = await run('insights', '--project', projectId, '--sql');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('http://127.0.0.1:9/hooks failed 1 attempt with HTTP 500');
  expect(stdout).toContain(`Examples: ${webhookLogId}`);
  expect(stdout).toContain('FROM delivery_attempts');
  for (const character of ['\u001b', '\u202e']) expect(stdout).not.toContain(character);

  const json = jsonOf(await run('insights', '--project', projectId, '--since', '7d', '--json')) as {
    findings: { sql: string; exampleIds: string[] }[];
  };
  expect(json).toMatchObject({
    summary: null,
    note: null,
    findings: [{ kind: 'endpoint_failing', exampleIds: [webhookLogId] }],
  });
  const { rows } = await sql.query(json.findings[0]?.sql ?? '');
  expect(rows).toMatchObject([{ webhook_log_id: webhookLogId }]);
});

it('insights of a quiet project says so, of an unknown one or of a wrong period fails', async () => {
  const quiet = await run('insights', '--project', await createProject());
  expect(quiet.stdout).toMatch(/^Nothing noteworthy from /);
  expect(await run('insights', '--project', freshId())).toMatchObject({ exitCode: 1 });
  const long = await run('insights', '--project', await createProject(), '--since', '90d');
  expect(long).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('at most 31 days') });
});

it('insights prints what the model wrote with the findings that it cites, its note when it fails, and asks nothing with --no-summary', async () => {
  const projectId = await createProject();
  const { endpointId } = await addEndpoint(projectId, 'http://127.0.0.1:9/hooks');
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  await recordAttempt(sql, { projectId, webhookLogId, endpointId });
  const env = { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: model.baseUrl };
  const argv = ['insights', '--project', projectId];
  await runWith(env, [...argv, '--no-summary']);
  expect(model.requests).toHaveLength(0);

  model.answerWith(({ body }) => {
    const id = /endpoint_failing-[0-9a-f]{10}/.exec(body.toString())?.[0] ?? '';
    const say = (text: string) => [{ text, findingIds: [id] }];
    const answer = {
      summary: say('It is down.'),
      causes: say('It restarts.'),
      nextSteps: say('Look at its log.'),
    };
    return messageOf(JSON.stringify(answer));
  });
  const { stdout } = await runWith(env, argv);
  expect(stdout).toMatch(
    /Summary, written by a model\n {2}It is down\. \[endpoint_failing-\w+\]\n\nLikely causes\n {2}1\. It restarts/,
  );
  expect(stdout).toMatch(/What to try\n {2}1\. Look at its log\. \[endpoint_failing-/);
  const other = { ...env, INSIGHTS_MODEL: 'another-model' };
  model.answerWith({ statusCode: 529 });
  expect((await runWith(other, argv)).stdout).toContain(
    'There is no summary: the model is not available (HTTP 529).',
  );
});

it('with EGRESS_PROXY the model is asked through the proxy, which resolves its name', async () => {
  const projectId = await createProject();
  const { endpointId } = await addEndpoint(projectId, 'http://127.0.0.1:9/hooks');
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  await recordAttempt(sql, { projectId, webhookLogId, endpointId, statusCode: 500, error: 'HTTP 500' });
  const proxy = await startConnectProxy(Number(new URL(model.baseUrl).port));
  onTestFinished(proxy.shut);
  const before = model.requests.length;
  model.answerWith({ statusCode: 529 });
  const env = {
    ANTHROPIC_API_KEY: 'sk-planted-key',
    ANTHROPIC_BASE_URL: 'http://model.invalid',
    EGRESS_PROXY: proxy.url,
  };
  const { stdout } = await runWith(env, ['insights', '--project', projectId]);
  expect(stdout).toContain('the model is not available (HTTP 529)');
  expect(proxy.asked).toEqual(['model.invalid:80']);
  expect(model.requests.length).toBe(before + 1);
});
