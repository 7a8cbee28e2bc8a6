import { createConnection } from 'node:net';

/** Sends one command, after the password of the URL if it has one, and resolves with the raw answer. */
export function askRedis(url: string, command: string): Promise<string> {
  const { port, password } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port: Number(port) });
    let isAuthenticated = password === '';
    socket.once('connect', () => socket.write(`${isAuthenticated ? command : `AUTH ${password}`}\r\n`));
    socket.on('data', (data) => {
      if (!isAuthenticated) {
        isAuthenticated = true;
        socket.write(`${command}\r\n`);
        return;
      }
      socket.destroy();
      resolve(data.toString());
    });
    socket.once('error', reject);
  });
}
