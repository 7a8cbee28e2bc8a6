import { createServer } from 'node:net';

/** Throws an error that names the command to run when an app could not listen on the port of `variable`. */
export async function checkPort(variable: string, port: number): Promise<void> {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen(port, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return;
  const fault = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`;
  throw new Error(`Port ${port} ${fault}: run "${variable}=${port + 100} npm run up", or free it first.`);
}
