import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@hqrelay/services/app-process';
import { promtool } from '@hqrelay/services/servers/promtool';
import { describe, expect, it } from 'vitest';

const say = (line: string) => void process.stderr.write(`${line}\n`);
const file = (path: string) => join(repositoryRoot, path);
const read = (path: string) => readFileSync(file(path), 'utf8');
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);

describe('the alerts of deploy/prometheus', () => {
  it('Prometheus accepts its configuration and its rules', async () => {
    expect(await promtool(['check', 'config', file('deploy/prometheus/prometheus.yml')], say)).toContain(
      'SUCCESS',
    );
  });

  it('each alert fires on its condition and is silent otherwise', async () => {
    expect(await promtool(['test', 'rules', file('deploy/prometheus/alerts.test.yml')], say)).toContain(
      'SUCCESS',
    );
  });

  it('each alert has a firing, a silence, and a section in the runbook', () => {
    const alerts = namesIn(read('deploy/prometheus/alerts.yml'), /^ *- alert: (\w+)$/gm);
    expect(alerts.length).toBeGreaterThan(10);
    const tests = read('deploy/prometheus/alerts.test.yml');
    expect(namesIn(tests, /^ *- name: ["']?(\w+) fires/gm)).toEqual(alerts);
    expect(namesIn(tests, /^ *- name: ["']?(\w+) is silent/gm)).toEqual(alerts);
    expect(namesIn(read('docs/runbook.md'), /^## (\w+)$/gm)).toEqual(alerts);
    expect(namesIn(read('deploy/prometheus/alerts.yml'), /runbook_url: docs\/runbook\.md#(\w+)$/gm)).toEqual(
      alerts.map((alert) => alert?.toLowerCase()),
    );
  });
});
