import { useState } from 'react';
import { DialogButton } from '../components/dialog/dialog-button.tsx';
import { FormButtons } from '../components/dialog/form-buttons.tsx';
import { FormError } from '../components/field.tsx';
import { formatCount } from '../display/number-format.ts';
import type { DeadLetterFilter } from './dead-letter-list.tsx';
import { RateField, rateOf } from './rate-field.tsx';
import { useReplay, useReplayCount } from './use-replay.ts';

type Props = { projectId: string; filter: DeadLetterFilter };

/** Replays every dead letter that the filter takes, after it has said how many. */
export function ReplayAllButton({ projectId, filter }: Props) {
  const title =
    Object.keys(filter).length === 0 ? 'Replay all dead letters' : 'Replay the dead letters of this filter';
  return (
    <DialogButton look="primary" label="Replay all …" title={title}>
      {(close) => <ReplayForm projectId={projectId} filter={filter} close={close} />}
    </DialogButton>
  );
}

function ReplayForm({ projectId, filter, close }: Props & { close: () => void }) {
  const [rate, setRate] = useState('50');
  const selection = { filter: replayFilterOf(filter) };
  const counted = useReplayCount(projectId, selection);
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
      <p className="m-0" aria-live="polite">
        {total !== undefined
          ? `${total} dead letters are sent again, as new deliveries with a schedule of their own. You can cancel it while it runs.`
          : counted.isPending && 'Counting …'}
      </p>
      <RateField value={rate} onChange={setRate} />
      <FormError error={replay.error ?? counted.error} />
      <FormButtons
        submitLabel={`Replay ${total ?? ''}`}
        cancel={close}
        busy={replay.isPending}
        disabled={(counted.data?.count ?? 0) === 0}
      />
    </form>
  );
}

function replayFilterOf({ endpointId, since }: DeadLetterFilter) {
  return {
    state: 'dead_lettered' as const,
    ...(endpointId !== undefined && { endpointId }),
    ...(since !== undefined && { deadSince: since }),
  };
}
