import { once } from 'node:events';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { setTimeout as sleep } from 'node:timers/promises';
import express, { type Express } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer, type HttpServer } from './http-server.ts';

const servers: HttpServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(0))));

async function start(app: Express) {
  const server = createHttpServer(app);
  servers.push(server);
  return { server, port: await server.listen(0) };
}

/** Sends text as it is and resolves with all that comes back until the other side closes. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (chunk) => (received += chunk)).on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
  return received;
}

async function get(
  port: number,
  agent: http.Agent,
  path = '/',
): Promise<{ connection: string; body: string }> {
  return new Promise((resolve, reject) => {
    http
      .get({ port, host: '127.0.0.1', agent, path }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk) => (body += chunk));
        response.on('end', () => resolve({ connection: response.headers.connection ?? '', body }));
        response.on('error', reject);
      })
      .on('error', reject);
  });
}

describe('a running server', () => {
  it('requests and responses have the prototypes of Express from their creation', async () => {
    const app = express().get('/', (_request, response) => void response.send('ok'));
    const { port } = await start(app);
    const setPrototypeOf = Object.setPrototypeOf;
    let calls = 0;
    let changes = 0;
    Object.setPrototypeOf = (object: object, prototype: object | null) => {
      if (prototype === app.request || prototype === app.response) {
        calls += 1;
        if (Object.getPrototypeOf(object) !== prototype) changes += 1;
      }
      return setPrototypeOf(object, prototype);
    };
    try {
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('ok');
    } finally {
      Object.setPrototypeOf = setPrototypeOf;
    }
    expect(calls).toBe(2);
    expect(changes).toBe(0);
  });

  it('an answer has no header that names the software, and no etag', async () => {
    const { port } = await start(express().get('/', (_request, response) => void response.send('ok')));
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('etag')).toBeNull();
  });

  it.each([
    ['no HTTP at all', 'garbage\r\n\r\n', 400, 'request.malformed'],
    [
      'a smuggled length',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'request.malformed',
    ],
    [
      'headers without end',
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'request.headers_too_large',
    ],
  ])('a server answers %s with a clear error and a correlation id', async (_, text, status, code) => {
    const { port } = await start(express());
    const answer = await exchange(port, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nX-Correlation-Id: [0-9a-f-]{36}\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code } });
  });

  it('no error is written into an answer that has begun', async () => {
    const { port } = await start(
      express().post('/', (request, response) => {
        response.writeHead(200, { 'content-length': 10 });
        response.write('half');
        request.resume();
      }),
    );
    const answer = await exchange(
      port,
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk\r\n',
    );
    expect(answer).not.toContain('request.malformed');
  });

  it('the error for a port in use names the port', async () => {
    const { port } = await start(express());
    await expect(createHttpServer(express()).listen(port)).rejects.toThrow(`Port ${port} is already in use`);
  });
});

describe('a server with a limit of connections', () => {
  async function startLimited(app: Express) {
    const server = createHttpServer(app, { connectionsMax: 20 });
    servers.push(server);
    return server.listen(0);
  }

  async function open(port: number, text = '') {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.resume().write(text);
    return socket;
  }

  async function closed(socket: Socket) {
    if (!socket.destroyed) await once(socket, 'close');
  }

  it('a server over its limit of connections closes the silent ones, the oldest first, and answers new ones', async () => {
    const app = express().get('/', (_request, response) => void response.send('ok'));
    const port = await startLimited(app);
    const silent = [];
    for (let i = 0; i < 50; i += 1) silent.push(await open(port));
    expect((await get(port, new http.Agent())).body).toBe('ok');
    await Promise.all(silent.slice(0, 30).map(closed));
    expect(silent.slice(35).map(({ destroyed }) => destroyed)).not.toContain(true);
    for (const socket of silent) socket.destroy();
  });

  it('a server over its limit of connections closes none whose request is complete', async () => {
    const answers: (() => void)[] = [];
    const app = express().get('/', (_request, response) => void answers.push(() => response.send('late')));
    const port = await startLimited(app);
    const requests = Array.from({ length: 20 }, () => get(port, new http.Agent()));
    while (answers.length < 20) await sleep(5);
    const silent = await Promise.all(Array.from({ length: 10 }, () => open(port)));
    await Promise.all(silent.map(closed));
    for (const answer of answers) answer();
    expect((await Promise.all(requests)).map(({ body }) => body)).toEqual(Array(20).fill('late'));
  });

  it('a server over its limit of connections closes the one whose body is slowest, and answers a new one', async () => {
    let arrived = 0;
    const app = express()
      .get('/', (_request, response) => void response.send('ok'))
      .post('/', () => void (arrived += 1));
    const port = await startLimited(app);
    const slow: Socket[] = [];
    for (let i = 1; i <= 20; i += 1) {
      slow.push(await open(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nslow'));
      while (arrived < i) await sleep(1);
    }
    expect((await get(port, new http.Agent())).body).toBe('ok');
    await closed(slow[0] as Socket);
    expect(slow.slice(1).map(({ destroyed }) => destroyed)).not.toContain(true);
    for (const socket of slow) socket.destroy();
  });
});

/** Whether the server accepts no new connection. */
function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket.destroy() && false));
    socket.once('error', () => resolve(true));
  });
}

/** The servers close sooner: only a busy machine needs so long. */
const closeWithinMs = 60_000;

describe('a closing server', () => {
  it('a closing server lets a request in flight finish, and its answer closes the connection', async () => {
    let finish = () => {};
    const arrived = new Promise<void>((resolveArrived) => {
      finish = resolveArrived;
    });
    let answer = () => {};
    const app = express().get('/', (_request, response) => {
      answer = () => response.send('done');
      finish();
    });
    const { server, port } = await start(app);
    const agent = new http.Agent({ keepAlive: true });
    const response = get(port, agent);
    await arrived;
    const closed = server.close(closeWithinMs);
    await expect.poll(() => isRefused(port)).toBe(true);
    answer();
    expect(await response).toEqual({ connection: 'close', body: 'done' });
    expect(await closed).toEqual({ connectionsCut: false });
    agent.destroy();
  });

  it('a closing server resets none of many clients that send requests on keep-alive connections', async () => {
    const app = express().get('/', (_request, response) => {
      setImmediate(() => response.send('ok'));
    });
    const { server, port } = await start(app);
    const agent = new http.Agent({ keepAlive: true });
    let answers = 0;
    let closing = false;
    const client = async (): Promise<unknown> => {
      for (;;) {
        try {
          await get(port, agent);
          answers += 1;
        } catch (error) {
          // A refused connection is a new one, which a closing server does not owe an answer.
          if (closing) return (error as NodeJS.ErrnoException).code;
          throw error;
        }
      }
    };
    const clients = Array.from({ length: 30 }, client);
    while (answers < 300) await sleep(5);
    closing = true;
    const closed = server.close(closeWithinMs);
    expect(new Set(await Promise.all(clients))).toEqual(new Set(['ECONNREFUSED']));
    expect(await closed).toEqual({ connectionsCut: false });
    agent.destroy();
  });

  it('a closing server answers a client whose connection it had not accepted yet', async () => {
    const { server, port } = await start(
      express().get('/', (_request, response) => void response.send('ok')),
    );
    const { waitUntilSent, answers } = requestFromThread(port, 20);
    // This thread waits without its event loop, so the kernel holds connections and requests that the server has not seen.
    waitUntilSent();
    const closed = server.close(closeWithinMs);
    expect(await answers).toEqual(Array(20).fill('HTTP/1.1 200 OK'));
    expect(await closed).toEqual({ connectionsCut: false });
  });

  it('a closing server closes a connection that stays idle', async () => {
    const { server, port } = await start(
      express().get('/', (_request, response) => void response.send('ok')),
    );
    const agent = new http.Agent({ keepAlive: true });
    await get(port, agent);
    expect(await server.close(closeWithinMs)).toEqual({ connectionsCut: false });
    agent.destroy();
  });

  it('a closing server destroys the connections that are still open at its deadline', async () => {
    let arrived = false;
    const { server, port } = await start(express().get('/', () => void (arrived = true)));
    const response = get(port, new http.Agent());
    response.catch(() => {});
    await expect.poll(() => arrived).toBe(true);
    expect(await server.close(100)).toEqual({ connectionsCut: true });
    await expect(response).rejects.toThrow();
  });
});

/** Requests from a thread of their own, each on a connection of its own. `answers` are the status lines. */
function requestFromThread(port: number, count: number) {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(
    `const { connect } = require('node:net');
     const { once } = require('node:events');
     const { parentPort, workerData: { port, count, sent } } = require('node:worker_threads');
     (async () => {
       const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').setEncoding('latin1'));
       await Promise.all(sockets.map((socket) => once(socket, 'connect')));
       const answers = sockets.map(async (socket) => (await once(socket, 'data'))[0].split('\\r\\n')[0]);
       await Promise.all(sockets.map((socket) => new Promise((written) => {
         socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n', written);
       })));
       Atomics.store(sent, 0, 1);
       Atomics.notify(sent, 0);
       parentPort.postMessage(await Promise.all(answers));
     })();`,
    { eval: true, workerData: { port, count, sent } },
  );
  const answers = new Promise<string[]>((resolve, reject) => {
    thread.once('message', resolve).once('error', reject);
  });
  const waitUntilSent = () => {
    if (Atomics.wait(sent, 0, 0, 60_000) === 'timed-out') throw new Error('not sent within 60 s');
  };
  return { waitUntilSent, answers };
}
