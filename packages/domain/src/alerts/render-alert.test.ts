import { describe, expect, it } from 'vitest';
import type { AlertMessage } from './alert-message.ts';
import { renderCallback, renderMail, renderSlack } from './render-alert.ts';

const consoleUrl = 'https://relay.example.com';
const projectId = '01890a5d-ac96-774b-bcce-b302099a8057';
const endpointId = '01890a5d-ac96-774b-bcce-b302099a8058';

const message: AlertMessage = {
  id: '01890a5d-ac96-774b-bcce-b302099a8050',
  ruleId: '01890a5d-ac96-774b-bcce-b302099a8051',
  type: 'dead_letter',
  state: 'firing',
  isReminder: false,
  projectId,
  projectName: 'Shop',
  endpointId,
  endpointUrl: 'https://shop.example/hooks',
  count: 20_000,
  reason: 'HTTP 503',
  firstAt: Date.UTC(2026, 2, 1, 2, 0, 0),
  lastAt: Date.UTC(2026, 2, 1, 2, 5, 0),
  firstExampleId: '01890a5d-ac96-774b-bcce-b302099a8060',
  lastExampleId: '01890a5d-ac96-774b-bcce-b302099a8061',
  createdAt: Date.UTC(2026, 2, 1, 2, 5, 30),
};

describe('the mail of an alert', () => {
  it('a mail names the count, the endpoint, the reason, both examples and the page of the console', () => {
    const { subject, text } = renderMail(message, consoleUrl);
    expect(subject).toBe('[HQRelay] Shop: 20,000 dead letters');
    expect(text).toContain('reason         HTTP 503');
    expect(text).toContain('first          2026-03-01 02:00:00 UTC');
    expect(text).toContain(`${consoleUrl}/projects/${projectId}/webhooks/${message.firstExampleId}`);
    expect(text).toContain(`${consoleUrl}/projects/${projectId}/webhooks/${message.lastExampleId}`);
    expect(text).toContain(`See ${consoleUrl}/projects/${projectId}/dead-letters?endpointId=${endpointId}`);
    expect(text).toContain(`hqrelay alert snooze ${message.ruleId}`);
  });

  it('names and errors of strangers are escaped in HTML and have no line break', () => {
    const hostile = {
      ...message,
      projectName: 'Shop\r\nBcc: victim@example.com',
      reason: `<img src=x onerror=alert(1)>"'&\r\n\u2028<script>`,
      endpointUrl: 'https://shop.example/"><script>alert(1)</script>',
    };
    const { subject, text, html } = renderMail(hostile, consoleUrl);
    expect(subject).not.toMatch(/[\r\n]/);
    expect(text).not.toMatch(/\r|^Bcc/m);
    expect(html).not.toMatch(/<(?:script|img)/);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
    expect([...html.matchAll(/href="([^"]*)"/g)].every(([, url]) => url?.startsWith(consoleUrl))).toBe(true);
  });

  it('the error of an endpoint is shortened', () => {
    expect(renderMail({ ...message, reason: 'x'.repeat(5_000) }, consoleUrl).text.length).toBeLessThan(2_000);
  });
});

describe('a message in Slack', () => {
  it('strangers’ texts can make neither a link nor a mention', () => {
    const { text } = renderSlack(
      { ...message, reason: '<!channel> <https://evil.example|click> & more' },
      consoleUrl,
    );
    expect(text).toContain('reason: &lt;!channel&gt; &lt;https://evil.example|click&gt; &amp; more');
    expect(text).toContain(`<${consoleUrl}/projects/${projectId}/dead-letters?endpointId=${endpointId}|`);
  });
});

describe('a callback', () => {
  it('its body has the fields of the contract and no other', () => {
    expect(renderCallback(message, consoleUrl)).toEqual({
      type: 'dead_letter',
      state: 'firing',
      projectId,
      endpointId,
      count: 20_000,
      reason: 'HTTP 503',
      url: `${consoleUrl}/projects/${projectId}/dead-letters?endpointId=${endpointId}`,
    });
  });
});
