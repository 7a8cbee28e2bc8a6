import { expect, it } from 'vitest';
import { owedEndpoints } from './owed-endpoints.ts';

const enabled = { id: 'enabled', enabled: true, disabledBy: null, eventTypes: [] };
const byRelay = { id: 'by relay', enabled: false, disabledBy: 'relay' as const, eventTypes: [] };
const byPerson = { id: 'by person', enabled: false, disabledBy: 'person' as const, eventTypes: [] };

it('a webhook owes endpoints that are enabled or disabled by the relay, not those disabled by a person', () => {
  expect(owedEndpoints([enabled, byRelay, byPerson], null)).toEqual(['enabled', 'by relay']);
});

it('a webhook owes no endpoint whose event filter does not match it', () => {
  const filtered = [enabled, byRelay].map((endpoint) => ({ ...endpoint, eventTypes: ['payment.*'] }));
  expect(owedEndpoints(filtered, 'payment.captured')).toEqual(['enabled', 'by relay']);
  expect(owedEndpoints(filtered, 'order.paid')).toEqual([]);
  expect(owedEndpoints(filtered, null)).toEqual([]);
});
