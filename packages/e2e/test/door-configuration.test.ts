import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNginx } from '@hqrelay/services/servers/private-nginx';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { createCertificates } from '@hqrelay/testing/certificates';
import { expect, inject, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const main = readFileSync(join(root, 'deploy/nginx/nginx.conf'), 'utf8');

it.each(['compose', 'site'])('nginx accepts the files of deploy/nginx/%s without a warning', async (name) => {
  const nginx = await findNginx((line) => void process.stderr.write(`${line}\n`));
  const folder = makeThrowAwayFolder('hqrelay-door-', inject('run').folder);
  const certificates = createCertificates();
  try {
    mkdirSync(join(folder, 'site'));
    mkdirSync(join(folder, 'tls'));
    const { certificateFile, keyFile } = certificates.issue('hooks.example.com');
    copyFileSync(certificateFile, join(folder, 'tls/fullchain.pem'));
    copyFileSync(keyFile, join(folder, 'tls/privkey.pem'));
    writeFileSync(join(folder, 'nginx.conf'), main);
    for (const file of readdirSync(join(root, 'deploy/nginx', name))) {
      const text = readFileSync(join(root, 'deploy/nginx', name, file), 'utf8');
      writeFileSync(join(folder, 'site', file), onThisMachine(text, folder));
    }
    const args = ['-t', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', `pid ${join(folder, 'pid')};`];
    const { status, stderr } = spawnSync(nginx, args, { encoding: 'utf8' });
    expect(stderr).not.toMatch(/\[(?:warn|emerg)\]/);
    expect(status).toBe(0);
  } finally {
    certificates.remove();
    removeThrowAwayFolder(folder);
  }
});

it('the container of the door may open as many files as nginx asks for', () => {
  const asked = /^worker_rlimit_nofile (\d+);$/m.exec(main)?.[1];
  const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const door = /^ {2}door:\n(?: {4}.*\n| *#.*\n)+/m.exec(compose)?.[0];
  expect(door).toContain('nginx:');
  expect(/ulimits:\n +nofile: (\d+)\n/.exec(door ?? '')?.[1]).toBe(asked);
});

/** Names of containers cannot be resolved here, and folders of an installation do not exist. */
function onThisMachine(text: string, folder: string): string {
  return text
    .replaceAll(/\b(?:receiver|receiver-2|console):(?=\d)/g, '127.0.0.1:')
    .replaceAll(/(?<=_path |_log )\S*\//g, `${folder}/`)
    .replaceAll(/\S+\/(?=fullchain\.pem|privkey\.pem)/g, `${folder}/tls/`);
}
