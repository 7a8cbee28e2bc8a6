import type { CredentialPlace } from '@hqrelay/domain/inbound/forwarded-credentials';
import type { ContentKey } from '@hqrelay/domain/inbound/content-keys';
import { newId } from '@hqrelay/domain/ids';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import type { HeaderLookup } from '@hqrelay/domain/inbound/signature';

/** One request as it came in; nothing of it is believed yet. */
export type InboundRequest = {
  /** Lower case. */
  projectId: string;
  body: Buffer;
  headers: HeaderLookup;
  rawHeaders: readonly string[];
  query: string;
  remoteAddr: string | null;
  correlationId: string;
  /** ms since epoch. */
  receivedAt: number;
};

export type IngestResult =
  | { kind: 'queued'; id: string }
  | { kind: 'replayed'; id: string }
  | { kind: 'conflict'; id: string }
  | { kind: 'rate_limited'; retryAfterMs: number }
  | { kind: 'bad_request'; code: string; message: string }
  | { kind: 'unauthorized' }
  | { kind: 'unavailable'; code: string; message: string };

/** A webhook whose sender is known to have the secret. */
export type VerifiedWebhook = {
  request: InboundRequest;
  project: ProjectConfig;
  webhookId: string;
  eventType: string | null;
  payloadSha256: string;
  contentKeys: readonly ContentKey[];
  headers: [string, string][];
  /** The query of the request, without the project's secrets. */
  query: string;
  /** What was taken off the headers and can be put back. */
  credentials: CredentialPlace[];
};

/** The id of the row, and of the webhook when it is accepted under it: its time is when the request came. */
export function idFor(request: InboundRequest): string {
  return newId(request.receivedAt);
}
