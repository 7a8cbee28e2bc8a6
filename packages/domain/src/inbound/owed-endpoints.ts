import type { EndpointConfig } from '../project-config.ts';
import { matchesEventTypes } from './event-filter.ts';

/**
 * The endpoints that a webhook of this event type owes. One that the relay disabled after a 410 is owed too: its deliveries
 * are held until a person enables it, or disables it, which ends the debt.
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
