import type { ProviderCase } from '../provider-case.ts';

export const providerCase = {
  secret: 'exotel-sends-no-secret',
  otherSecret: 'exotel-sends-no-other',
  variants: [
    {
      name: 'voice status callback',
      covers: 'nothing',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'CallSid=CA1&EventType=terminal&Status=completed&DateUpdated=2026-11-22+07%3A00%3A00',
      sign: () => ({}),
      expects: { eventId: null, eventType: 'terminal', orderingKey: 'CA1' },
    },
    {
      name: 'SMS status callback',
      covers: 'nothing',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'SmsSid=SM1&Status=sent&To=0XXXXXX4242',
      sign: () => ({}),
      expects: { eventId: null, eventType: 'sent', orderingKey: 'SM1' },
    },
  ],
} satisfies ProviderCase;
