import type { Endpoint } from '../api/entities.ts';
import { plural } from '../display/number-format.ts';
import { useNow } from '../display/now.ts';
import { RelativeTime, Time } from '../display/zone.tsx';

/** The state of the breaker, its cause and its next probe. */
export function EndpointBreaker({ endpoint: { breaker } }: { endpoint: Endpoint }) {
  const { state, failures, failingSince, openedAt, probeAt } = breaker;
  const failed = (
    <>
      {plural(failures, 'attempt')} in a row failed
      {failingSince !== null && (
        <>
          {' '}
          since <Time at={failingSince} />
        </>
      )}
    </>
  );
  if (state === 'closed') {
    return failures === 0 ? (
      'Closed: its deliveries are sent as they are due.'
    ) : (
      <>Closed; {failed}. It opens when ten in a row fail over ten seconds or more.</>
    );
  }
  return (
    <>
      {state === 'open' ? 'Open' : 'Half open'}
      {openedAt !== null && (
        <>
          {' '}
          since <Time at={openedAt} />
        </>
      )}
      : {failed}. Its deliveries are held. <NextProbe state={state} probeAt={probeAt} />
    </>
  );
}

function NextProbe({ state, probeAt }: Pick<Endpoint['breaker'], 'state' | 'probeAt'>) {
  const now = useNow();
  if (state === 'half_open') return 'One delivery tries it now; if that is delivered, the breaker closes.';
  if (probeAt === null || Date.parse(probeAt) <= now) return 'The next delivery that is due tries it again.';
  return (
    <>
      One delivery tries it again <RelativeTime at={probeAt} />.
    </>
  );
}
