import type { EndpointConfig } from '../project-config.ts';
import { matchesEventTypes } from './event-filter.ts';

/**
 * The endpoints that a webhook of this event type owes. An endpoint that the relay disabled after a 410 is included: its
 * deliveries are held until a person enables it, or disables it, which cancels what it is owed.
 */
export function owedEndpoints(
  endpoints: readonly Pick<EndpointConfig, 'id' | 'enabled' | 'disabledBy' | 'eventTypes'>[],
  eventType: string | null,
): string[] {
  return endpoints
    .filter(({ enabled, disabledBy }) => enabled || disabledBy === 'relay')
    .filter(({ eventTypes }) => matchesEventTypes(eventTypes, eventType))
    .map(({ id }) => id);
}
