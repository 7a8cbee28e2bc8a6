import type { UseQueryResult } from '@tanstack/react-query';
import type { Insights } from '../api/entities.ts';
import { Card } from '../components/page.tsx';
import { Loading } from '../components/states.tsx';

/** What a model wrote, as plain text, or the note why it did not; nothing where no model is configured. */
export function Summary({ query: { data, error, isPending } }: { query: UseQueryResult<Insights> }) {
  if (isPending) return <Loading rows={2} />;
  if (error || !data || (data.summary === null && data.note === null)) return null;
  const { summary, causes, nextSteps, note } = data;
  if (summary === null) {
    return (
      <p role="status" className="m-0 rounded-md bg-raised px-3 py-2 text-muted">
        {note}
      </p>
    );
  }
  return (
    <Card title="Summary, written by a model">
      {summary.split('\n').map((line) => (
        <p key={line} className="mt-0 mb-2 break-words">
          {line}
        </p>
      ))}
      <Statements title="Likely causes" statements={causes} />
      <Statements title="What to try" statements={nextSteps} />
    </Card>
  );
}

function Statements({ title, statements }: { title: string; statements: Insights['causes'] }) {
  if (statements.length === 0) return null;
  return (
    <section>
      <h3 className="mt-3 mb-1 text-sm font-semibold">{title}</h3>
      <ol className="m-0 pl-5">
        {statements.map(({ text, findingIds }) => (
          <li key={text} className="break-words">
            {text}{' '}
            {findingIds.map((id) => (
              <a key={id} href={`#${id}`} className="mr-2 font-mono text-xs text-accent underline">
                {id}
              </a>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}
