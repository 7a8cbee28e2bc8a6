import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/call.ts';
import { Button } from './button.tsx';

/** An empty list, with advice. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="rounded-lg border border-dashed border-line px-6 py-12 text-center">
      <p className="text-base font-medium">{title}</p>
      {children !== undefined && <div className="mx-auto mt-2 max-w-prose text-muted">{children}</div>}
    </div>
  );
}

/** Grey bars where the content will be; shown only when nothing is cached. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" className="grid animate-pulse gap-3 py-2">
      <span className="sr-only">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} aria-hidden className="block h-5 rounded bg-raised odd:w-4/5" />
      ))}
    </div>
  );
}

export function Failed({ error, retry }: { error: Error; retry?: (() => void) | undefined }) {
  const { title, advice } = explain(error);
  const { correlationId = null } = error as Partial<ApiError>;
  return (
    <div role="alert" className="rounded-lg border border-line bg-surface px-5 py-6">
      <p className="text-base font-medium text-bad">{title}</p>
      <p className="mt-1">{error.message}.</p>
      <p className="mt-1 text-muted">{advice}</p>
      {correlationId !== null && (
        <p className="mt-2 font-mono text-xs break-all text-muted">Correlation id {correlationId}</p>
      )}
      {retry && (
        <Button className="mt-4" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

function explain(error: Error): { title: string; advice: string } {
  const { statusCode, code } = error as Partial<ApiError>;
  if (code === 'access.hides_payloads') {
    return {
      title: 'Payloads are hidden',
      advice: 'Your access does not include payloads. Ask for a link that shows them.',
    };
  }
  if (code === 'cursor.invalid') {
    return {
      title: 'This page of the list cannot be shown',
      advice: 'The address belongs to another filter. Choose the section again to see its newest rows.',
    };
  }
  switch (statusCode) {
    case 0:
      return {
        title: 'No answer',
        advice: 'Check your network. This page keeps what it has and can try again.',
      };
    case 403:
      return {
        title: 'Not allowed',
        advice: 'Your access does not include this. Ask for a link with a higher role.',
      };
    case 404:
      return {
        title: 'Not found',
        advice: 'It may be of another project, or its month may have been removed.',
      };
    case 503:
      return {
        title: 'The database does not answer',
        advice: 'Webhooks are still accepted and delivered. Try again in a few seconds.',
      };
    default:
      return {
        title: 'This cannot be shown',
        advice: 'Try again. If it fails again, give the correlation id to the operator.',
      };
  }
}

/** The data of a query, or its loading or error state. Data that was read stays on the screen when a later read fails. */
export function Shown<T>({
  query,
  children,
  loading,
}: {
  query: UseQueryResult<T>;
  children: (data: NonNullable<T>) => ReactNode;
  loading?: ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data === undefined || data === null) {
    return error ? <Failed error={error} retry={() => void refetch()} /> : (loading ?? <Loading />);
  }
  return (
    <>
      {error && (
        <p role="status" className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-warn">
          This is not up to date: {error.message}.{' '}
          <button type="button" className="underline" onClick={() => void refetch()}>
            Try again
          </button>
        </p>
      )}
      {children(data)}
    </>
  );
}
