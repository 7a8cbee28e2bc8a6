import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read } from '../api/read.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { FormError, SelectField } from '../components/field.tsx';
import { formatCount } from '../display/number-format.ts';
import { RateField, rateOf } from './rate-field.tsx';
import { useReplay } from './use-replay.ts';

const hourMs = 3_600_000;
const periods = [
  ['1', 'the last hour'],
  ['6', 'the last 6 hours'],
  ['24', 'the last 24 hours'],
  ['168', 'the last 7 days'],
  ['720', 'the last 30 days'],
] as const;

/** Sends an endpoint what it has not got, also what came before it was added. */
export function SendMissed({ projectId }: { projectId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Send an endpoint what it missed …</Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Send an endpoint what it missed"
        description="All webhooks of a period that its event filter takes and that it has not got: also those that came before it was added, or while it was disabled."
      >
        <MissedForm projectId={projectId} close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function MissedForm({ projectId, close }: { projectId: string; close: () => void }) {
  const endpoints = useQuery(
    read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
  );
  const [chosen, setChosen] = useState('');
  const [hours, setHours] = useState('24');
  const [rate, setRate] = useState('50');
  const { dryRun, replay, error } = useReplay(close);
  const items = endpoints.data?.items ?? [];
  const endpointId = chosen === '' ? items[0]?.id : chosen;
  const selection = () => ({
    ...(endpointId !== undefined && { endpointId }),
    missing: true,
    since: new Date(Date.now() - Number(hours) * hourMs).toISOString(),
  });
  const counted = dryRun.data;
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!counted) dryRun.mutate({ params: { projectId }, body: { ...selection(), dryRun: true } });
        else replay.mutate({ params: { projectId }, body: { ...selection(), ratePerSecond: rateOf(rate) } });
      }}
    >
      <SelectField
        label="Endpoint"
        value={endpointId}
        onChange={({ target }) => {
          setChosen(target.value);
          dryRun.reset();
        }}
      >
        {items.map(({ id, url }) => (
          <option key={id} value={id}>
            {url}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Received in"
        value={hours}
        onChange={({ target }) => {
          setHours(target.value);
          dryRun.reset();
        }}
      >
        {periods.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      <RateField value={rate} onChange={setRate} />
      <p className="m-0" aria-live="polite">
        {counted && `It missed ${formatCount(counted.count, counted.capped)} webhooks.`}
      </p>
      <FormError error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          busy={dryRun.isPending || replay.isPending}
          disabled={endpointId === undefined || counted?.count === 0}
        >
          {counted ? `Send ${formatCount(counted.count, counted.capped)}` : 'Count them'}
        </Button>
      </div>
    </form>
  );
}
