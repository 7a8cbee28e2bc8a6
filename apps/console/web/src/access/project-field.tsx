import { useQuery } from '@tanstack/react-query';
import { read } from '../api/read.ts';
import { SelectField } from '../components/field.tsx';
import { useMe } from '../layout/me.ts';

type Props = { value: string; onChange: (projectId: string) => void };

/** Which projects a key or a session sees. A reader of one project alone has no choice. */
export function ProjectField({ value, onChange }: Props) {
  const { me } = useMe();
  const isBound = me === undefined || me.projectId !== null;
  const { data } = useQuery({
    ...read('get /api/v1/projects', { query: { limit: '200' } }),
    enabled: !isBound,
  });
  if (isBound) return null;
  return (
    <SelectField
      label="Sees"
      {...((data?.nextCursor ?? null) !== null && {
        hint: 'The 200 newest projects. The HTTP API takes any other.',
      })}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">all projects</option>
      {data?.items.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}
