import { createApiKey } from '@hqrelay/actions/api-key/create-api-key';
import { createConsoleLink } from '@hqrelay/actions/session/create-console-link';
import type { ApiRole } from '@hqrelay/domain/access/api-role';
import { createLogger } from '@hqrelay/runtime/logger';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeEach, inject } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createConsole } from '../src/console.ts';
import { createDocumentCheck, type CheckAnswer } from './document-check.ts';

type Answer = {
  statusCode: number;
  headers: Headers;
  /** Parsed JSON, checked against the OpenAPI document. */
  body: ReturnType<typeof JSON.parse>;
  /** Of an attachment. */
  bytes: Buffer;
};

type RequestOptions = {
  key?: string | null;
  /** The cookie of a session, in place of a key; sent as the pages of the console do. */
  session?: string;
  body?: unknown;
  headers?: Record<string, string>;
};

/** A world with a console in this process, until the file's tests are over. */
export async function openConsoleWorld(more: Record<string, string> = {}) {
  const world = await createWorld(inject('run'));
  afterAll(() => world.close());
  const log: string[] = [];
  const relayConsole = createConsole(readConfig({ ...world.env, CONSOLE_PORT: '0', ...more }), {
    logger: createLogger({ name: 'console', level: 'info' }, { write: (line: string) => log.push(line) }),
    isDraining: () => false,
  });
  relayConsole.connect();
  const url = `http://127.0.0.1:${await relayConsole.server.listen(0)}`;
  afterAll(async () => {
    await relayConsole.server.close(1_000);
    await relayConsole.disconnect();
  });
  await waitFor('the console to be ready', async () => (await fetch(`${url}/health/ready`)).ok);
  const check = createDocumentCheck((await (await fetch(`${url}/api/openapi.json`)).json()) as object);
  let admin = await makeKey(world, 'admin');
  // The API limits the requests of one key by time: with a key for the whole file a fast machine would reach the limit.
  beforeEach(async () => {
    admin = await makeKey(world, 'admin');
  });
  return {
    ...world,
    url,
    log,
    check,
    /** The key of an admin, another one in each test. */
    admin: () => admin,
    makeKey: (role: ApiRole, options: KeyOptions = {}) => makeKey(world, role, options),
    makeLink: (role: ApiRole, options: LinkOptions = {}) => makeLink(world, url, role, options),
    signIn: (link: string, headers?: Record<string, string>) => signIn(url, link, headers),
    /** The cookie of a new session. */
    makeSession: async (role: ApiRole, options: LinkOptions = {}) => {
      const { statusCode, cookie } = await signIn(url, await makeLink(world, url, role, options));
      if (statusCode !== 201) throw new Error(`the sign-in was answered ${statusCode}`);
      return cookie;
    },
    ...createClient(url, check, () => admin),
  };
}

type KeyOptions = { projectId?: string | null; hidePayloads?: boolean; expiresInMs?: number };

async function makeKey(
  { sql }: World,
  role: ApiRole,
  { projectId = null, hidePayloads = false, expiresInMs = 3_600_000 }: KeyOptions = {},
): Promise<string> {
  const created = await createApiKey(
    { pool: sql, actor: 'cli:test' },
    { name: `${role} of the test`, role, projectId, hidePayloads, expiresInMs },
  );
  if (created.kind === 'refused') throw new Error(created.message);
  return created.value.key;
}

type LinkOptions = Omit<KeyOptions, 'expiresInMs'> & { subject?: string; returnUrl?: string | null };

/** The URL of a new sign-in link. */
async function makeLink(
  { sql }: World,
  consoleUrl: string,
  role: ApiRole,
  { projectId = null, hidePayloads = false, subject = 'test@example.com', returnUrl = null }: LinkOptions,
): Promise<string> {
  const grant = { subject, role, projectId, hidePayloads, returnUrl };
  const made = await createConsoleLink(
    { pool: sql, actor: 'cli:test' },
    { ...grant, expiresInMs: 60_000, consoleUrl },
  );
  if (made.kind === 'refused') throw new Error(made.message);
  return made.value.url;
}

/** What the button of the sign-in page sends. `cookie` is the cookie that the answer sets, without its attributes. */
async function signIn(url: string, link: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/api/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...pageHeaders(url), ...headers },
    body: JSON.stringify({ token: new URL(link).hash.slice(1) }),
  });
  const [setCookie = ''] = response.headers.getSetCookie();
  const body = (await response.json()) as ReturnType<typeof JSON.parse>;
  return {
    statusCode: response.status,
    headers: response.headers,
    body,
    setCookie,
    cookie: setCookie.split(';')[0] as string,
  };
}

function pageHeaders(url: string): Record<string, string> {
  return { origin: url, 'x-hqrelay-console': '1' };
}

/** Requests as the admin unless another key is given; every answer must be one that the OpenAPI document describes. */
function createClient(url: string, check: CheckAnswer, admin: () => string) {
  const request = async (
    method: string,
    path: string,
    { session, key = session === undefined ? admin() : null, body, headers = {} }: RequestOptions = {},
  ): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(session !== undefined && { cookie: session, ...pageHeaders(url) }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const type = response.headers.get('content-type')?.split(';')[0] ?? '';
    const parsed: unknown = type === 'application/json' ? JSON.parse(bytes.toString()) : undefined;
    check({ method, path, statusCode: response.status, type, body: parsed });
    return { statusCode: response.status, headers: response.headers, body: parsed, bytes };
  };
  return {
    request,
    get: (path: string, options?: RequestOptions) => request('GET', path, options),
    post: (path: string, body: unknown = {}, options: RequestOptions = {}) =>
      request('POST', path, { body, ...options }),
    patch: (path: string, body: unknown, options: RequestOptions = {}) =>
      request('PATCH', path, { body, ...options }),
    remove: (path: string, options?: RequestOptions) => request('DELETE', path, options),
    /** A project of the API's own, and its id. */
    createProject: async (body: object = {}): Promise<string> => {
      const answer = await request('POST', '/api/v1/projects', { body: { name: 'Acme', ...body } });
      return answer.body.project.id as string;
    },
  };
}
