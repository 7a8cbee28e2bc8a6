/** What each code of `webhook_logs.reason` means, for the person who asks why a webhook was not delivered. */
const explanations = {
  'signature.missing':
    'The request has no signature header. Check that the provider signs, and that no proxy removes the header.',
  'signature.malformed':
    'The signature header does not have the form of this provider. Check which provider the project has.',
  'signature.mismatch':
    'No active secret of the project makes this signature. Compare the secret at the provider with the one of the project.',
  'signature.retired_secret':
    'The provider still signs with a secret that has expired or was revoked. Give it the new secret.',
  'timestamp.stale':
    "The signature is right, but its timestamp is too far from the relay's clock: a delayed request, a replay, or a wrong clock.",
  'project.disabled': 'The project is disabled. Enable it with `project enable`.',
  'project.unknown': 'No project has this id. Check the URL that the provider posts to.',
  'project.rate_limited': 'The project was over its rate limit. `project update --rate-limit` raises it.',
  'body.altered':
    'The signature is right for another spelling of this body: a program between the provider and the relay changes it.',
  'body.too_large': 'The body is larger than BODY_BYTES_MAX.',
  'body.not_json': 'The body is declared as JSON and does not parse.',
  'webhook.conflict': 'The same id was accepted before with another body.',
  'webhook.undecided': 'An earlier request for this webhook was still in progress.',
  'webhook.not_queued': 'No store could take the webhook in time.',
} as const;

export type ReasonCode = keyof typeof explanations;

/** Why a request was not accepted. `words`: the facts of this request, without any secret. */
export type RejectionReason = { code: ReasonCode; words?: string | undefined };

/** As `webhook_logs.reason` holds it: the code, and after a space the words. */
export function formatReason({ code, words }: RejectionReason): string {
  return words ? `${code} ${words}` : code;
}

/** The code of a stored reason and what it means; undefined for a reason of another form, as earlier versions wrote. */
export function explainReason(reason: string): { code: ReasonCode; explanation: string } | undefined {
  const [code = ''] = reason.split(' ', 1);
  return isReasonCode(code) ? { code, explanation: explanations[code] } : undefined;
}

function isReasonCode(code: string): code is ReasonCode {
  return Object.hasOwn(explanations, code);
}
