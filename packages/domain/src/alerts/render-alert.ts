import { consoleUrlOfAlert, titleOf, type AlertMessage } from './alert-message.ts';

export type RenderedMail = { subject: string; text: string; html: string };

const lineLengthMax = 300;

/** The mail of a message. `consoleUrl` is the origin of the console. */
export function renderMail(message: AlertMessage, consoleUrl: string): RenderedMail {
  const title = titleOf(message);
  const fields = fieldsOf(message, consoleUrl);
  const url = consoleUrlOfAlert(consoleUrl, message);
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  const rows = fields.map(
    ([name, value]) =>
      `<tr><th align="left" style="padding-right:1em">${escapeHtml(name)}</th><td>${linked(value, consoleUrl)}</td></tr>`,
  );
  return {
    subject: oneLine(`[HQRelay] ${message.projectName}: ${title}${message.isReminder ? ' (reminder)' : ''}`),
    text: [title, '', ...lines, '', `See ${url}`, '', footer(message), ''].join('\n'),
    html:
      `<!doctype html><html><body><h2>${escapeHtml(title)}</h2><table>${rows.join('')}</table>` +
      `<p><a href="${escapeHtml(url)}">Open it in the console</a></p><p><small>${escapeHtml(footer(message))}</small></p></body></html>`,
  };
}

/** The body for an incoming webhook of Slack. */
export function renderSlack(message: AlertMessage, consoleUrl: string): { text: string } {
  const lines = fieldsOf(message, consoleUrl).map(([name, value]) => `${name}: ${escapeSlack(value)}`);
  const title = `${titleOf(message)}${message.isReminder ? ' (reminder)' : ''}`;
  const url = consoleUrlOfAlert(consoleUrl, message);
  return { text: [`*${escapeSlack(title)}*`, ...lines, `<${url}|Open it in the console>`].join('\n') };
}

/** The body of a webhook callback. */
export function renderCallback(message: AlertMessage, consoleUrl: string) {
  const { type, state, projectId, endpointId, count, reason } = message;
  return { type, state, projectId, endpointId, count, reason, url: consoleUrlOfAlert(consoleUrl, message) };
}

type Field = readonly [name: string, value: string];

function fieldsOf(message: AlertMessage, consoleUrl: string): Field[] {
  const { projectId, projectName, endpointUrl, reason, firstAt, lastAt, isReminder } = message;
  const webhookUrl = (id: string) => `${consoleUrl}/projects/${projectId}/webhooks/${id}`;
  const { firstExampleId, lastExampleId } = message;
  const fields: (Field | false)[] = [
    ['project', projectName],
    endpointUrl !== null && ['endpoint', endpointUrl],
    reason !== '' && ['reason', reason],
    firstAt !== null && ['first', formatTime(firstAt)],
    lastAt !== null && lastAt !== firstAt && ['last', formatTime(lastAt)],
    firstExampleId !== null && ['first example', webhookUrl(firstExampleId)],
    lastExampleId !== null && lastExampleId !== firstExampleId && ['last example', webhookUrl(lastExampleId)],
    isReminder && ['note', 'this still holds; it is told once a day'],
  ];
  return fields.filter((field) => field !== false).map(([name, value]) => [name, oneLine(value)] as const);
}

function footer({ ruleId, projectId }: AlertMessage): string {
  return ruleId === null
    ? 'hqrelay alert list shows the channels, and hqrelay alert test tries one.'
    : `Sent by the alert rule ${ruleId} of the project ${projectId}. hqrelay alert snooze ${ruleId} --until 4h silences it.`;
}

function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Names and errors are texts of customers and strangers: without line breaks and control characters, and shortened. */
function oneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return line.length > lineLengthMax ? `${line.slice(0, lineLengthMax - 1).toWellFormed()}…` : line;
}

/** Only the console's own URLs are links: an endpoint's URL is a customer's text. */
function linked(value: string, consoleUrl: string): string {
  const escaped = escapeHtml(value);
  return value.startsWith(`${consoleUrl}/projects/`) ? `<a href="${escaped}">${escaped}</a>` : escaped;
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}

/** Slack asks for these three alone; without `<` no text can be a link or a mention. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
