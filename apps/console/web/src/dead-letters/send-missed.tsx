import { useState } from 'react';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { FormError } from '../components/field.tsx';
import { formatCount } from '../display/number-format.ts';
import { EndpointField } from '../endpoints/endpoint-field.tsx';
import { sinceOf } from '../webhooks/filters.ts';
import { PeriodField } from './period-field.tsx';
import { RateField, rateOf } from './rate-field.tsx';
import { useReplay, useReplayCount } from './use-replay.ts';

type Props = { projectId: string; endpointId?: string };

/** Sends an endpoint the webhooks that it has not got, also those that came before it was added. */
export function SendMissed({ projectId, endpointId }: Props) {
  return (
    <DialogButton
      label={endpointId === undefined ? 'Send an endpoint what it missed …' : 'Send it what it missed …'}
      title="Send an endpoint what it missed"
      description="All webhooks of a period that its event filter takes and that it has not got: also those that came before it was added, or while it was disabled."
    >
      {(close) => (
        <MissedForm projectId={projectId} {...(endpointId !== undefined && { endpointId })} close={close} />
      )}
    </DialogButton>
  );
}

function MissedForm({ projectId, endpointId: given, close }: Props & { close: () => void }) {
  const [openedAt] = useState(Date.now);
  const [endpointId, setEndpointId] = useState(given ?? '');
  const [period, setPeriod] = useState('24h');
  const [rate, setRate] = useState('50');
  const selection = { endpointId, missing: true, ...sinceOf(period, openedAt) };
  const counted = useReplayCount(projectId, endpointId === '' ? undefined : selection);
  const replay = useReplay(close);
  const total = counted.data && formatCount(counted.data.count, counted.data.capped);
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        replay.mutate({ params: { projectId }, body: { ...selection, ratePerSecond: rateOf(rate) } });
      }}
    >
      <EndpointField projectId={projectId} any="choose one" value={endpointId} onChange={setEndpointId} />
      <PeriodField label="Received in" value={period} onChange={setPeriod} />
      <RateField value={rate} onChange={setRate} />
      <p className="m-0" aria-live="polite">
        {total !== undefined ? `It missed ${total} webhooks.` : counted.isFetching && 'Counting …'}
      </p>
      <FormError error={replay.error ?? counted.error} />
      <FormButtons
        submitLabel={`Send ${total ?? ''}`}
        cancel={close}
        busy={replay.isPending}
        disabled={(counted.data?.count ?? 0) === 0}
      />
    </form>
  );
}
