import { expect, it } from 'vitest';
import { emptyProject, newProjectOf } from './project-fields.ts';

it('only the settings of the chosen provider are sent', () => {
  const fields = { ...emptyProject, name: 'Shop', settings: { 'verify-token': 'a', 'webhook-id': ' WH-1 ' } };
  expect(newProjectOf({ ...fields, provider: 'paypal' })).toEqual({
    name: 'Shop',
    provider: 'paypal',
    providerSettings: { 'webhook-id': 'WH-1' },
  });
});

it('a timestamp is required only of a provider that can sign one', () => {
  const fields = { ...emptyProject, name: 'Shop', requireTimestamp: true };
  expect(newProjectOf(fields)).toMatchObject({ provider: 'generic', requireTimestamp: true });
  expect(newProjectOf({ ...fields, provider: 'stripe' })).toEqual({ name: 'Shop', provider: 'stripe' });
});
