import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../api/operations.ts';
import { Tag } from '../components/tag.tsx';
import { formatCount, formatShare, plural } from '../display/number-format.ts';

type Project = AnswerOf<'get /api/v1/projects'>['items'][number];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The problems of a project. Each tag leads to its rows, and lies over the link of the project. */
export function Attention({ project }: { project: Project }) {
  const { id, enabled, archivedAt, statistics, attention } = project;
  if (archivedAt !== null) return <Tag>archived</Tag>;
  if (!enabled) return <Tag tone="bad">disabled</Tag>;
  const { disabledEndpoints = 0, openBreakers = 0, deadLetters = 0 } = attention ?? {};
  return (
    <>
      {deadLetters > 0 && (
        <Link
          to="/projects/$projectId/dead-letters"
          params={{ projectId: id }}
          search={{ last: '24h' }}
          className="relative z-10"
        >
          <Tag tone="bad">
            {formatCount(deadLetters, attention?.deadLettersCapped)}{' '}
            {deadLetters === 1 ? 'dead letter' : 'dead letters'}
          </Tag>
        </Link>
      )}
      {openBreakers > 0 && <ToEndpoints id={id}>{plural(openBreakers, 'open breaker')}</ToEndpoints>}
      {disabledEndpoints > 0 && (
        <ToEndpoints id={id}>{plural(disabledEndpoints, 'endpoint')} disabled by the relay</ToEndpoints>
      )}
      {statistics && <Shares statistics={statistics} />}
    </>
  );
}

function ToEndpoints({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Link to="/projects/$projectId/endpoints" params={{ projectId: id }} className="relative z-10">
      <Tag tone="bad">{children}</Tag>
    </Link>
  );
}

function Shares({ statistics }: { statistics: NonNullable<Project['statistics']> }) {
  const [received, rejected] = [sum(statistics.received), sum(statistics.rejected)];
  const [delivered, failed] = [sum(statistics.delivered), sum(statistics.failed)];
  return (
    <>
      {rejected > 0 && rejected * 10 >= received && (
        <Tag tone="bad">{formatShare(rejected, received)} rejected</Tag>
      )}
      {failed > delivered && <Tag tone="bad">most attempts fail</Tag>}
    </>
  );
}
