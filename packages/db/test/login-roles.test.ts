import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { migrate } from '../src/migrate.ts';
import { groupRoles } from '../src/roles/group-roles.ts';
import { grantAsBefore } from '@hqrelay/testing/database/previous-grants';
import { freshId } from '@hqrelay/testing/fresh-id';
import { startRecordingProxy } from '@hqrelay/testing/network/recording-proxy';

const serverUrl = new URL(inject('run').postgres);
const allGroups = ['hqrelay_console', 'hqrelay_receiver', 'hqrelay_worker'];
const databases: string[] = [];
const users: User[] = [];

type User = { name: string; password: string };

afterEach(() =>
  onServer(async (client) => {
    for (const name of databases.splice(0)) await client.query(`drop database ${name} with (force)`);
    for (const { name } of users.splice(0)) await client.query(`drop role if exists ${name}`);
  }),
);

function newUser(password = 'secret'): User {
  const user = { name: `user_${freshId().slice(-12)}`, password };
  users.push(user);
  return user;
}

function urlOf(database: string, user?: User): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  if (user) Object.assign(url, { username: user.name, password: encodeURIComponent(user.password) });
  return url.href;
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const onServer = <T>(work: (client: pg.Client) => Promise<T>) => connected(urlOf('postgres'), work);

async function newDatabase(): Promise<string> {
  const name = `roles_${freshId().slice(-12)}`;
  await onServer((client) => client.query(`create database ${name}`));
  databases.push(name);
  return name;
}

function groupsOf({ name }: User): Promise<string[]> {
  return onServer(async (client) => {
    const { rows } = await client.query<{ group: string }>(
      `select g.rolname as group from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles u on u.oid = m.member
       where u.rolname = $1 order by 1`,
      [name],
    );
    return rows.map(({ group }) => group);
  });
}

describe('migrating', () => {
  it('migrating makes the user of each program a member of its own group alone, and that of DATABASE_URL of all three', async () => {
    const database = await newDatabase();
    const [shared, receiver, worker, operator] = [newUser(), newUser(), newUser(), newUser()];
    const notices = await migrate({
      migrationDatabaseUrl: urlOf(database),
      databaseUrl: urlOf(database, shared),
      receiverDatabaseUrl: urlOf(database, receiver),
      workerDatabaseUrl: urlOf(database, worker),
      consoleDatabaseUrl: urlOf(database, operator),
    });
    expect(notices).toEqual([]);
    expect(await groupsOf(shared)).toEqual(allGroups);
    expect(await groupsOf(receiver)).toEqual(['hqrelay_receiver']);
    expect(await groupsOf(worker)).toEqual(['hqrelay_worker']);
    expect(await groupsOf(operator)).toEqual(['hqrelay_console']);
    for (const user of [shared, receiver, worker, operator]) {
      const limits = await connected(urlOf(database, user), (client) =>
        client.query(
          "select current_setting('statement_timeout') as a, current_setting('lock_timeout') as b",
        ),
      );
      expect(limits.rows).toEqual([{ a: '5s', b: '2s' }]);
    }
  });

  it('migrating needs no DATABASE_URL where every program has a URL of its own', async () => {
    const database = await newDatabase();
    const [receiver, worker, operator] = [newUser(), newUser(), newUser()];
    const own = {
      receiverDatabaseUrl: urlOf(database, receiver),
      workerDatabaseUrl: urlOf(database, worker),
      consoleDatabaseUrl: urlOf(database, operator),
    };
    expect(await migrate({ migrationDatabaseUrl: urlOf(database), ...own })).toEqual([]);
    expect(await groupsOf(receiver)).toEqual(['hqrelay_receiver']);
  });

  it('migrating several databases at once makes every role and membership once', async () => {
    const names = await Promise.all([newDatabase(), newDatabase(), newDatabase(), newDatabase()]);
    const [shared, receiver] = [newUser(), newUser()];
    const notices = await Promise.all(
      names.map((name) =>
        migrate({
          migrationDatabaseUrl: urlOf(name),
          databaseUrl: urlOf(name, shared),
          receiverDatabaseUrl: urlOf(name, receiver),
        }),
      ),
    );
    expect(notices.flat()).toEqual([]);
    expect(await groupsOf(shared)).toEqual(allGroups);
    expect(await groupsOf(receiver)).toEqual(['hqrelay_receiver']);
    for (const name of names) {
      await connected(urlOf(name, shared), (client) => client.query('select from outbox'));
    }
  });

  it('migrating revokes no membership that another database may need, and names it', async () => {
    const [one, other] = [await newDatabase(), await newDatabase()];
    const [user, shared] = [newUser(), newUser()];
    await migrate({ migrationDatabaseUrl: urlOf(one), databaseUrl: urlOf(one, user) });
    const notices = await migrate({
      migrationDatabaseUrl: urlOf(other),
      databaseUrl: urlOf(other, shared),
      receiverDatabaseUrl: urlOf(other, user),
    });
    expect(notices).toEqual([
      expect.stringMatching(
        new RegExp(
          `^the user ${user.name} of RECEIVER_DATABASE_URL is a member of hqrelay_console, hqrelay_worker too`,
        ),
      ),
    ]);
    expect(await groupsOf(user)).toEqual(allGroups);
    await connected(urlOf(one, user), (client) => client.query('delete from outbox'));
  });

  it('migrating gives the user of an earlier version the privileges of every program, and revokes other grants', async () => {
    const database = await newDatabase();
    const user = newUser();
    const owner = { migrationDatabaseUrl: urlOf(database) };
    await migrate(owner);
    await connected(urlOf(database), async (client) => {
      await client.query(`drop owned by ${Object.keys(groupRoles).join(', ')}`);
      await grantAsBefore(client, user);
      await client.query('grant delete on projects to hqrelay_receiver');
    });
    expect(await groupsOf(user)).toEqual(['hqrelay_app']);

    expect(await migrate({ ...owner, databaseUrl: urlOf(database, user) })).toEqual([]);

    expect(await groupsOf(user)).toEqual(['hqrelay_app', ...allGroups]);
    await connected(urlOf(database), (client) => client.query('drop owned by hqrelay_app'));
    await connected(urlOf(database, user), async (client) => {
      await client.query('select from webhook_payloads');
      await client.query("update endpoints set url = ''");
      await client.query('delete from outbox');
      await client.query('select hqrelay_ensure_partition(now())');
      await expect(client.query('delete from projects')).rejects.toMatchObject({ code: '42501' });
    });
  });

  it('migrating as an owner that may make no role prints the statements for an administrator, step by step', async () => {
    const [owner, user] = [newUser(), newUser()];
    const database = await newDatabase();
    await onServer(async (client) => {
      await client.query(`create role ${owner.name} login password '${owner.password}'`);
      await client.query(`alter database ${database} owner to ${owner.name}`);
    });
    const run = () =>
      migrate({ migrationDatabaseUrl: urlOf(database, owner), databaseUrl: urlOf(database, user) });

    await expect(run()).rejects.toThrow(`an administrator run create role "${user.name}" login, then`);
    await onServer((client) => client.query(`create role ${user.name} login password '${user.password}'`));
    await expect(run()).rejects.toThrow(`run grant hqrelay_receiver to "${user.name}", then migrate again`);
    await onServer((client) => client.query(`grant ${allGroups.join(', ')} to ${user.name}`));
    expect(await run()).toEqual([
      expect.stringContaining(`the role ${user.name} could not be given timeouts`),
    ]);
    await connected(urlOf(database, user), (client) => client.query('delete from outbox'));
  });
});

describe('the password of a user that migrating creates', () => {
  it('a user that migrating creates logs in with its password, which migrating does not send to Postgres', async () => {
    const database = await newDatabase();
    const user = newUser("hush, it's \\ ü \u00a0ﬁ");
    const proxy = await startRecordingProxy(Number(serverUrl.port));
    const throughProxy = new URL(urlOf(database));
    throughProxy.port = String(proxy.port);
    await migrate({ migrationDatabaseUrl: throughProxy.href, databaseUrl: urlOf(database, user) });
    await proxy.shut();

    const text = proxy.text();
    expect(text).toContain(`create role "${user.name}" login password 'SCRAM-SHA-256$4096:`);
    expect(text).not.toContain('hush');
    await connected(urlOf(database, user), (client) => client.query('select'));
  });
});
