import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { CheckField, FormError, TextField } from '../components/field.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { SecretOnce } from '../components/secret-once.tsx';

export function CreateProject() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Create a project
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title="Create a project">
        <Creating close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Creating({ close }: { close: () => void }) {
  const [name, setName] = useState('');
  const [provider, setProvider] = useState('generic');
  const [secret, setSecret] = useState('');
  const [requireTimestamp, setRequireTimestamp] = useState(false);
  const { mutate, data, error, isPending } = useAction('post /api/v1/projects', {
    changes: ['get /api/v1/projects'],
    showsError: true,
  });
  if (data) {
    return (
      <div className="grid gap-4">
        <p className="m-0">
          The provider posts to <code className="font-mono text-xs break-all">{data.project.webhookUrl}</code>{' '}
          <CopyButton text={data.project.webhookUrl} />
        </p>
        <SecretOnce label="Secret" secret={data.secret} />
        <Button look="primary" className="justify-self-end" onClick={close}>
          I have copied it
        </Button>
      </div>
    );
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate({
          body: {
            name,
            provider,
            ...(secret !== '' && { secret }),
            ...(requireTimestamp && { requireTimestamp }),
          },
        });
      }}
    >
      <TextField
        label="Name"
        hint="Of the customer."
        required
        maxLength={200}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label="Provider"
        hint="generic, stripe, github, omise … as `hqrelay provider list` names them."
        required
        value={provider}
        onChange={({ target }) => setProvider(target.value.trim().toLowerCase())}
      />
      <TextField
        label="Secret"
        hint="Where the provider makes the secret, paste it. Empty makes a random one."
        autoComplete="off"
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
      />
      <CheckField
        label="Require a timestamp"
        hint="For generic senders that sign X-Webhook-Timestamp too."
        checked={requireTimestamp}
        onChange={({ target }) => setRequireTimestamp(target.checked)}
      />
      <FormError error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={isPending}>
          Create it
        </Button>
      </div>
    </form>
  );
}
