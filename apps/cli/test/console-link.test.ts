import { describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';

const world = await openCliWorld();

describe('console link', () => {
  it('prints a link of CONSOLE_URL whose token is in the fragment, and records it without the token', async () => {
    const projectId = await world.createProject();
    const options =
      '--role viewer --subject eva@example.com --expires 10m --return-url https://backoffice.example.com/ --hide-payloads --json';
    const argv = ['console', 'link', '--project', projectId, ...options.split(' ')];
    const outcome = await world.runWith({ CONSOLE_URL: 'https://relay.example.com' }, argv);
    const { url } = JSON.parse(outcome.stdout) as { url: string };
    expect(url).toMatch(/^https:\/\/relay\.example\.com\/sign-in#hql_[\w-]{43}$/);
    const { rows } = await world.sql.query('select * from console_links');
    expect(rows).toMatchObject([
      { subject: 'eva@example.com', role: 'viewer', project_id: projectId, hide_payloads: true },
    ]);
    expect(Math.round((rows[0].expires_at - rows[0].created_at) / 60_000)).toBe(10);
    const log = await world.sql.query("select * from admin_log where action = 'console_link.create'");
    expect(log.rows).toMatchObject([{ target: rows[0].id, project_id: projectId }]);
    expect(JSON.stringify([rows, log.rows])).not.toContain(url.split('#')[1]);
  });

  it('without options is an admin’s link of one hour for the operating system’s user', async () => {
    const outcome = await world.runWith({ CONSOLE_PORT: '4002' }, ['console', 'link', '--json']);
    expect(outcome.stdout).toContain('http://127.0.0.1:4002/sign-in#');
    const { rows } = await world.sql.query(
      "select role, project_id, expires_at - created_at > interval '59 minutes' as hour from console_links where role = 'admin'",
    );
    expect(rows).toEqual([{ role: 'admin', project_id: null, hour: true }]);
  });

  it.each([
    [['--return-url', 'javascript:alert(1)'], 'the return URL must'],
    [['--role', 'owner'], 'Allowed choices are viewer, operator, admin'],
    [['--expires', '8d'], '7d'],
  ])('with %j is a usage error', async (options, message) => {
    const outcome = await world.run('console', 'link', ...options);
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) as string });
  });
});
