import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebhookDetails } from '../api/entities.ts';
import { read } from '../api/read.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog/dialog.tsx';
import { CheckField, FormError } from '../components/field.tsx';
import { Shown } from '../components/states.tsx';
import { plural } from '../display/number-format.ts';
import { useMe } from '../layout/me.ts';

type Webhook = WebhookDetails['webhook'];

type Props = { webhook: Webhook; /** Ticked at first. */ endpointIds?: readonly string[]; small?: boolean };

/** Sends the webhook again, to the endpoints that are ticked. */
export function ReplayButton({ webhook, endpointIds = webhook.endpointIds, small = false }: Props) {
  const [open, setOpen] = useState(false);
  const { may } = useMe();
  if (!may('operator')) return null;
  return (
    <>
      <Button look="primary" small={small} onClick={() => setOpen(true)}>
        Replay …
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Replay this webhook"
        description="It is sent again as new deliveries with the same webhook-id. Endpoints that check it can tell that they know it."
      >
        <ReplayForm webhook={webhook} endpointIds={endpointIds} close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

type FormProps = { webhook: Webhook; endpointIds: readonly string[]; close: () => void };

function ReplayForm({ webhook, endpointIds, close }: FormProps) {
  const { projectId } = webhook;
  const endpoints = useQuery(
    read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(endpointIds));
  const { mutate, isPending, error } = useAction('post /api/v1/webhooks/{id}/replay', {
    changes: ['get /api/v1/webhooks/{id}'],
    showsError: true,
    done: ({ count }) => `${plural(count, 'delivery')} queued again`,
    onDone: close,
  });
  return (
    <Shown query={endpoints}>
      {({ items }) => {
        const ids = items.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
        return (
          <form
            className="grid gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              mutate({ params: { id: webhook.id }, body: { endpointIds: ids } });
            }}
          >
            {items.map(({ id, url, paused, enabled }) => (
              <CheckField
                key={id}
                label={url}
                hint={hintOf({ isOwed: webhook.endpointIds.includes(id), paused, enabled })}
                checked={chosen.has(id)}
                onChange={({ target }) => setChosen(withOrWithout(chosen, id, target.checked))}
              />
            ))}
            <FormError error={error} />
            <div className="flex flex-wrap justify-end gap-2">
              <Button onClick={close}>Cancel</Button>
              <Button type="submit" look="primary" busy={isPending} disabled={ids.length === 0}>
                Replay to {plural(ids.length, 'endpoint')}
              </Button>
            </div>
          </form>
        );
      }}
    </Shown>
  );
}

function hintOf({ isOwed, paused, enabled }: { isOwed: boolean; paused: boolean; enabled: boolean }) {
  const states = [
    ...(isOwed ? [] : ['did not get this webhook before']),
    ...(paused ? ['paused: it is held until you resume it'] : []),
    ...(enabled ? [] : ['disabled: it is held until you enable it']),
  ];
  return states.length === 0 ? undefined : states.join('; ');
}

function withOrWithout(set: ReadonlySet<string>, value: string, isIn: boolean): Set<string> {
  const next = new Set(set);
  if (isIn) next.add(value);
  else next.delete(value);
  return next;
}
