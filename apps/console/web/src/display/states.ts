import type { Delivery, ListedWebhook } from '../api/entities.ts';
import type { Tone } from '../components/tag.tsx';

type State = Delivery['state'];
type Status = ListedWebhook['status'];

/** Every state by the word and the colour it has on every page. */
export const deliveryStates: Record<State, { label: string; tone: Tone }> = {
  waiting: { label: 'waiting', tone: 'info' },
  held: { label: 'held', tone: 'warn' },
  delivered: { label: 'delivered', tone: 'good' },
  dead_lettered: { label: 'dead letter', tone: 'bad' },
  cancelled: { label: 'cancelled', tone: 'plain' },
};

export const webhookStatuses: Record<Status, { label: string; tone: Tone; meaning: string }> = {
  queued: {
    label: 'accepted',
    tone: 'good',
    meaning: 'Answered 202: it will be delivered, held or dead-lettered.',
  },
  duplicate: {
    label: 'duplicate',
    tone: 'plain',
    meaning: 'The sender sent an accepted webhook again. It is delivered once.',
  },
  conflict: {
    label: 'conflict',
    tone: 'warn',
    meaning: 'Answered 409: its id came before with another body.',
  },
  rate_limited: {
    label: 'rate limited',
    tone: 'warn',
    meaning: 'Answered 429: the project was over its rate limit.',
  },
  rejected: { label: 'rejected', tone: 'bad', meaning: 'Not accepted: its signature or its form was wrong.' },
  failed_to_queue: {
    label: 'not taken',
    tone: 'bad',
    meaning: 'Answered 503: neither store could take it. The sender tries again.',
  },
};

const reasons: Readonly<Record<string, string>> = {
  'signature.missing': 'The request had no signature. Check that the sender signs, and which header it uses.',
  'signature.malformed': 'The signature header does not have the form that the provider uses.',
  'signature.mismatch':
    'The signature is of another secret or another body. Compare the secret at the sender with the one here.',
  'signature.retired_secret': 'It is signed with a secret that has ended here. Give the sender the new one.',
  'timestamp.stale': 'Its timestamp is more than five minutes off. Check the clock of the sender.',
  'project.disabled': 'The project is disabled.',
  'body.altered':
    'The signature matches the body only after it is re-serialised: a proxy before the relay alters bodies.',
  'body.too_large': 'The body is larger than the relay takes.',
};

/** A sentence for a stored reason, which is a code, then optional words. */
export function explainReason(reason: string): string {
  const [code = '', ...words] = reason.split(' ');
  return reasons[code] ?? [code, ...words].join(' ');
}
