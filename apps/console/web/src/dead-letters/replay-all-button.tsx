import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { FormError } from '../components/field.tsx';
import { formatCount } from '../display/number-format.ts';
import { RateField, rateOf } from './rate-field.tsx';
import { useReplay } from './use-replay.ts';

type Props = { projectId: string; endpointId: string | undefined };

/** Replays every dead letter that the filter matches, after it has said how many. */
export function ReplayAllButton({ projectId, endpointId }: Props) {
  const [open, setOpen] = useState(false);
  const [rate, setRate] = useState('50');
  const { dryRun, replay, error } = useReplay(() => setOpen(false));
  const filter = { state: 'dead_lettered' as const, ...(endpointId !== undefined && { endpointId }) };
  const counted = dryRun.data;
  return (
    <>
      <Button
        look="primary"
        onClick={() => {
          setOpen(true);
          dryRun.mutate({ params: { projectId }, body: { filter, dryRun: true } });
        }}
      >
        Replay all …
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={
          endpointId === undefined ? 'Replay all dead letters' : 'Replay the dead letters of this endpoint'
        }
      >
        <form
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            replay.mutate({ params: { projectId }, body: { filter, ratePerSecond: rateOf(rate) } });
          }}
        >
          <p className="m-0" aria-live="polite">
            {counted
              ? `${formatCount(counted.count, counted.capped)} dead letters are sent again, as new deliveries with a schedule of their own. You can cancel it while it runs.`
              : 'Counting …'}
          </p>
          <RateField value={rate} onChange={setRate} />
          <FormError error={error} />
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button
              type="submit"
              look="primary"
              busy={replay.isPending}
              disabled={!counted || counted.count === 0}
            >
              Replay {counted ? formatCount(counted.count, counted.capped) : ''}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
