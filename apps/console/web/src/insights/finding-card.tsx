import { Link } from '@tanstack/react-router';
import type { Finding } from '../api/entities.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Tag, type Tone } from '../components/tag.tsx';

const tones: Record<Finding['severity'], Tone> = { critical: 'bad', warning: 'warn', info: 'info' };

/** A finding with its counts, its examples and the SQL to look further. */
export function FindingCard({ projectId, finding }: { projectId: string; finding: Finding }) {
  const { id, severity, text, counts, exampleIds, sql } = finding;
  return (
    <article id={id} aria-label={id} className="rounded-lg border border-line bg-surface p-4">
      <div className="flex flex-wrap items-center gap-2">
        <Tag tone={tones[severity]}>{severity}</Tag>
        <span className="font-mono text-xs break-all text-muted">{id}</span>
      </div>
      <p className="mt-2 mb-0 break-words">{text}</p>
      <ul className="mt-2 mb-0 flex list-none flex-wrap gap-x-4 gap-y-1 p-0 text-sm text-muted">
        {Object.entries(counts).map(([name, count]) => (
          <li key={name}>
            {wordsOf(name)} <span className="text-ink tabular-nums">{count.toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
      <Examples projectId={projectId} ids={exampleIds} />
      <Sql id={id} sql={sql} />
    </article>
  );
}

/** `failedAttempts` as `failed attempts`. */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function Examples({ projectId, ids }: { projectId: string; ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <p className="mt-2 mb-0 text-sm break-words">
      Examples:{' '}
      {ids.map((webhookId) => (
        <Link
          key={webhookId}
          to="/projects/$projectId/webhooks/$webhookId"
          params={{ projectId, webhookId }}
          className="mr-3 inline-block font-mono text-xs text-accent underline"
        >
          {webhookId}
        </Link>
      ))}
    </p>
  );
}

function Sql({ id, sql }: { id: string; sql: string }) {
  return (
    <details className="mt-2">
      <summary className="w-fit text-sm text-accent">SQL to look further</summary>
      <pre
        tabIndex={0}
        aria-label={`SQL of ${id}`}
        className="mt-1 mb-2 max-h-72 overflow-auto rounded-md bg-raised p-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
      >
        {sql}
      </pre>
      <CopyButton text={sql} label="Copy SQL" look="plain" />
    </details>
  );
}
