import { connectionUrl, flag, integer, nameServers, networks, oneOf } from './env-formats.ts';
import { variable } from './variable.ts';

/** What the apps send: deliveries, look-ups of names, traces; and how long payloads are kept. */
export const outgoingVariables = {
  ALLOW_PRIVATE_ENDPOINTS: variable({
    key: 'allowPrivateEndpoints',
    schema: flag,
    whenUnset: { text: 'false' },
    shown: 'value',
    example: 'false',
    description:
      'For development: endpoints may be on loopback and private addresses, and speak plain http. Cloud ' +
      'metadata addresses stay forbidden.',
  }),
  ALLOW_ENDPOINT_CIDRS: variable({
    key: 'allowEndpointCidrs',
    schema: networks,
    whenUnset: { value: [], meaning: 'no private network' },
    shown: 'value',
    example: '10.20.0.0/16,fd00:12::/32',
    description: 'The private networks that endpoints may live in. Cloud metadata addresses stay forbidden.',
  }),
  DNS_SERVERS: variable({
    key: 'dnsServers',
    schema: nameServers,
    whenUnset: { value: undefined, meaning: 'those of /etc/resolv.conf' },
    shown: 'value',
    example: '10.0.0.2,10.0.0.3:5353',
    description:
      "The name servers that resolve endpoints' host names: addresses, with a port where it is not 53. " +
      'The stores are still found through the system.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable({
    key: 'otlpEndpoint',
    schema: connectionUrl('http:', 'https:'),
    whenUnset: { value: undefined, meaning: 'no traces' },
    shown: 'url',
    example: 'http://localhost:4318',
    description:
      'The OpenTelemetry collector that traces are sent to. The other `OTEL_EXPORTER_OTLP_*` variables (headers, timeout, ' +
      'certificate, compression) have the meaning that OpenTelemetry gives them.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable({
    key: 'otlpTracesEndpoint',
    schema: connectionUrl('http:', 'https:'),
    whenUnset: { value: undefined, meaning: '`OTEL_EXPORTER_OTLP_ENDPOINT` and `/v1/traces`' },
    shown: 'url',
    example: 'http://localhost:4318/v1/traces',
    description: 'The whole URL that traces are sent to.',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: variable({
    key: 'otlpProtocol',
    schema: oneOf(['http/protobuf', 'http/json']),
    whenUnset: { text: 'http/protobuf' },
    shown: 'value',
    example: 'http/protobuf',
    description: 'The encoding of traces: `http/protobuf` or `http/json`.',
  }),
  EGRESS_PROXY: variable({
    key: 'egressProxy',
    schema: connectionUrl('http:', 'https:'),
    whenUnset: { value: undefined, meaning: 'connections go straight to the endpoint' },
    shown: 'url',
    example: 'http://proxy.internal:3128',
    description:
      'An HTTP proxy that all deliveries, and the requests to the model, go through (CONNECT). The names of endpoints are then ' +
      'resolved by the proxy, which has to refuse private addresses itself.',
  }),
  PAYLOAD_RETENTION_DAYS: variable({
    key: 'payloadRetentionDays',
    schema: integer(1, 36_500),
    whenUnset: { value: undefined, meaning: 'for ever' },
    shown: 'value',
    unit: 'days',
    example: '90',
    description:
      'How long payloads are kept; longer where a delivery still needs one. The facts about webhooks and ' +
      'attempts stay.',
  }),
} as const;
