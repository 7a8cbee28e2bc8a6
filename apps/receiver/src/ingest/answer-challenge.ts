import { answerHandshake, type HandshakeReply } from '@hqrelay/domain/providers/handshake';
import { providerOf } from '@hqrelay/domain/providers/provider-of';
import { viewOf } from '@hqrelay/domain/providers/request/request-view';
import type { ProjectConfig } from '@hqrelay/domain/project-config';
import type { IngestDeps } from './ingest.ts';
import type { InboundRequest } from './inbound-request.ts';
import { keysOf } from './verify.ts';

/**
 * The reply to a GET or HEAD request with which a provider checks the webhook URL. Null for any other, and for a project that is
 * unknown, disabled or cannot be looked up: the answer is then that of a method that is not allowed.
 */
export async function answerChallenge(
  deps: Pick<IngestDeps, 'findProject' | 'secrets'>,
  request: InboundRequest,
): Promise<HandshakeReply | null> {
  const found = await deps.findProject(request.projectId, request.receivedAt);
  if (found.kind !== 'found' || !found.project.enabled) return null;
  return answerHandshakeOf(deps, found.project, request, { isSigned: false });
}

/** The reply to a request that is a handshake of the project's provider; null for any other. `isSigned`: it has been verified. */
export function answerHandshakeOf(
  { secrets }: Pick<IngestDeps, 'secrets'>,
  project: ProjectConfig,
  request: InboundRequest,
  { isSigned }: { isSigned: boolean },
): HandshakeReply | null {
  const { handshakes } = providerOf(project).preset;
  if (!handshakes) return null;
  const keys = keysOf(secrets, project, request.receivedAt);
  return answerHandshake(handshakes, keys, viewOf(request), { isSigned });
}
