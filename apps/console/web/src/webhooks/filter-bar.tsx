import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { read } from '../api/read.ts';
import { buttonClass } from '../components/button.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { deliveryStates, webhookStatuses } from '../display/states.ts';
import { useTimeFormat } from '../display/zone.tsx';
import { activeFilters, type FilterName, type Filters } from './filters.ts';

const labels: Record<FilterName, string> = {
  status: 'Answer',
  state: 'Delivery',
  last: 'Period',
  statusClass: 'Endpoint answered',
  endpointId: 'Endpoint',
  eventType: 'Event type',
  q: 'In the payload',
  webhookId: "Provider's id",
  correlationId: 'Correlation id',
  reason: 'Reason',
  error: 'Error',
  minAttempts: 'Attempts, at least',
  since: 'Since',
  until: 'Until',
};

type Choice = readonly [value: string, label: string];
const labelled = (states: Record<string, { label: string }>): Choice[] =>
  Object.entries(states).map(([value, { label }]) => [value, label]);

const choices = {
  status: labelled(webhookStatuses),
  state: labelled(deliveryStates),
  last: [
    ['1h', 'last hour'],
    ['24h', 'last 24 hours'],
    ['7d', 'last 7 days'],
    ['30d', 'last 30 days'],
  ],
  statusClass: [
    ['2xx', '2xx'],
    ['3xx', '3xx'],
    ['4xx', '4xx'],
    ['5xx', '5xx'],
    ['none', 'no answer'],
  ],
} as const satisfies Record<string, readonly Choice[]>;

const rareFilters = ['webhookId', 'correlationId', 'reason', 'error', 'minAttempts'] as const;

/** Every filter is a part of the URL. Those that are set can be taken off one by one. */
export function FilterBar({ projectId, filters }: { projectId: string; filters: Filters }) {
  const navigate = useNavigate({ from: '/projects/$projectId/webhooks' });
  const endpoints = useQuery(
    read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
  );
  const set = (name: FilterName, value: string) => void navigate({ search: { ...filters, [name]: value } });
  const propsOf = (name: FilterName): FilterProps => ({
    label: labels[name],
    value: filters[name] ?? '',
    apply: (value) => set(name, value),
  });
  const select = (name: FilterName, options: readonly Choice[], any = 'any') => (
    <ChoiceFilter {...propsOf(name)} options={options} any={any} />
  );
  const text = (name: FilterName) => <TextFilter key={name} {...propsOf(name)} />;
  const urls = (endpoints.data?.items ?? []).map(({ id, url }) => [id, url] as const);
  return (
    <section aria-label="Filters" className="mb-4 grid gap-3">
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-6">
        {text('q')}
        {text('eventType')}
        {select('state', choices.state)}
        {select('status', choices.status)}
        {select('endpointId', urls)}
        {select('last', choices.last, 'last 90 days')}
      </div>
      <details open={rareFilters.some((name) => filters[name] !== undefined) || undefined}>
        <summary className="w-fit text-sm text-muted hover:text-ink">More filters</summary>
        <div className="mt-2 grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-6">
          {rareFilters.map(text)}
          {select('statusClass', choices.statusClass)}
        </div>
      </details>
      <ActiveFilters filters={filters} urls={urls} remove={(name) => set(name, '')} />
    </section>
  );
}

type ActiveProps = { filters: Filters; urls: readonly Choice[]; remove: (name: FilterName) => void };

function ActiveFilters({ filters, urls, remove }: ActiveProps) {
  const active = activeFilters(filters);
  const format = useTimeFormat();
  if (active.length === 0) return null;
  const options: Partial<Record<FilterName, readonly Choice[]>> = { ...choices, endpointId: urls };
  return (
    <ul aria-label="Filters that are set" className="m-0 flex list-none flex-wrap gap-1.5 p-0">
      {active.map(([name, value]) => (
        <li key={name} className="max-w-full">
          <button
            type="button"
            className={`${buttonClass('plain', true)} max-w-full`}
            onClick={() => remove(name)}
          >
            <span className="truncate">
              <span className="sr-only">Remove </span>
              {labels[name]}:{' '}
              {name === 'since' || name === 'until'
                ? format(value, 'dayAndMinute')
                : (options[name]?.find(([each]) => each === value)?.[1] ?? value)}
            </span>
            <span aria-hidden>✕</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

type FilterProps = { label: string; value: string; apply: (value: string) => void };
type ChoiceFilterProps = FilterProps & { options: readonly Choice[]; any: string };

function ChoiceFilter({ label, value, options, any, apply }: ChoiceFilterProps) {
  return (
    <SelectField label={label} value={value} onChange={({ target }) => apply(target.value)}>
      <option value="">{any}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </SelectField>
  );
}

/** Applied by Enter or when the field is left: every letter would be a search. */
function TextFilter({ label, value, apply }: FilterProps) {
  const [typed, setTyped] = useState(value);
  const applyTyped = () => typed.trim() !== value && apply(typed.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        applyTyped();
      }}
    >
      <TextField
        label={label}
        type="search"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={applyTyped}
      />
    </form>
  );
}
