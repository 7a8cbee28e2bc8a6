import { type Command, Option } from 'commander';
import { parseEventTypes } from '@hqrelay/domain/inbound/event-filter';
import { connectionHeaders } from '@hqrelay/domain/inbound/forwarded-headers';
import { checkEndpointUrl, parsePolicy } from '@hqrelay/domain/network/network-policy';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { parseRetrySchedule } from '@hqrelay/domain/delivery/retry-schedule';
import { UsageError } from '../cli.ts';
import type { EndpointTlsOptions } from './endpoint-tls.ts';
import { durationBetween, parsedBy } from './options.ts';

/** What `endpoint add` and `endpoint update` have in common, as commander hands it over. */
export type EndpointOptions = {
  url?: string;
  events?: string[];
  retry?: string[];
  /** ms. */
  timeout?: number;
  /** False takes it away. */
  orderingKey?: string | false;
  /** `Name: value` each; false takes them away. */
  header?: string[] | false;
  forwardCredentials?: boolean;
} & EndpointTlsOptions;

const headersMax = 20;
const headerValueLengthMax = 4_096;
const orderingKeyLengthMax = 255;
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

export function addEndpointOptions(command: Command): Command {
  return command
    .option(
      '--events <list>',
      "the event types it wants, such as 'payment.*,order.paid'; all when not given",
      parsedBy(parseEventTypes),
    )
    .option(
      '--retry <schedule>',
      'hqrelay, omise, standard-webhooks, or delays such as 1s,2s,4s (1s to 48h each)',
      parsedBy(parseRetrySchedule),
    )
    .option('--timeout <duration>', 'how long one attempt may take (1s to 30s)', durationBetween('1s', '30s'))
    .option(
      '--ordering-key <key>',
      'what is delivered in order: a JSON Pointer, or header:Name',
      parsedBy(parseOrderingKey),
    )
    .addOption(
      new Option('--header <header>', "a fixed header, 'Name: value'; may be given several times").argParser(
        (text: string, before: string[] | false | undefined) => [...(before || []), text],
      ),
    )
    .option('--forward-credentials', "pass the provider's credential on, which is otherwise taken off")
    .option(
      '--ca <file>',
      'PEM of the authorities that its certificate may be of, instead of the public ones',
    )
    .option('--client-cert <file>', 'PEM of the certificate that we show it, intermediate ones after it')
    .option('--client-key <file>', 'PEM of the private key of --client-cert; it is stored encrypted');
}

/** Throws UsageError saying why the URL cannot be an endpoint's, without any password in it. */
export function checkUrl(
  config: { allowPrivateEndpoints: boolean; allowEndpointCidrs: readonly string[] },
  url: string,
): string {
  const policy = parsePolicy({
    allowPrivate: config.allowPrivateEndpoints,
    allowCidrs: [...config.allowEndpointCidrs],
  });
  const verdict = checkEndpointUrl(policy, url);
  if (!verdict.ok) throw new UsageError(`--url ${redactUrl(url)}: ${verdict.reason}`);
  return url;
}

/** The pairs of `Name: value` texts. Throws UsageError, which never repeats a value: most are credentials. */
export function parseHeaders(texts: readonly string[]): [string, string][] {
  if (texts.length > headersMax) throw new UsageError(`--header: at most ${headersMax} are possible`);
  const names = new Set<string>();
  return texts.map((text) => {
    const colon = text.indexOf(':');
    const name = text.slice(0, Math.max(colon, 0)).trim();
    const value = text.slice(colon + 1).trim();
    if (!token.test(name)) throw new UsageError(`--header: expected 'Name: value' with a valid header name`);
    const lowerCaseName = name.toLowerCase();
    const problem = names.has(lowerCaseName) ? 'is given twice' : headerProblem(lowerCaseName, value);
    if (problem) throw new UsageError(`--header ${name} ${problem}`);
    names.add(lowerCaseName);
    return [name, value];
  });
}

function headerProblem(lowerCaseName: string, value: string): string | null {
  if (connectionHeaders.has(lowerCaseName)) return 'belongs to the connection and cannot be fixed';
  if (/^(hqrelay-)?webhook-|^x-hqrelay-|^x-correlation-id$/.test(lowerCaseName)) {
    return "has a name that only the relay's own headers have";
  }
  if (value === '' || value.length > headerValueLengthMax || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    return `has no usable value: expected 1 to ${headerValueLengthMax} Latin-1 characters, no control characters`;
  }
  return null;
}

function parseOrderingKey(text: string): string {
  const isPointer = /^\/(?:[^~\p{Cc}]|~[01])*$/u.test(text);
  const isHeader = text.startsWith('header:') && token.test(text.slice('header:'.length));
  if ((!isPointer && !isHeader) || text.length > orderingKeyLengthMax) {
    throw new RangeError('expected a JSON Pointer such as /order_id, or header:Name');
  }
  return text;
}
