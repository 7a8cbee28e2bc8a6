// The image's HEALTHCHECK: a container runs one of the apps, and each answers on its own port.
const ports = [
  process.env['RECEIVER_PORT'] ?? '3000',
  process.env['WORKER_PORT'] ?? '3001',
  process.env['CONSOLE_PORT'] ?? '3002',
];

try {
  await Promise.any(ports.map(checkHealth));
} catch (error) {
  const reasons = error instanceof AggregateError ? error.errors : [error];
  process.stderr.write(`${reasons.map(String).join('\n')}\n`);
  process.exitCode = 1;
}

/** @param {string} port */
async function checkHealth(port) {
  const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2_000) });
  if (!response.ok) throw new Error(`port ${port} answers ${response.status}`);
}
