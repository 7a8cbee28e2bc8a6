import { useQuery } from '@tanstack/react-query';
import { read } from '../api/read.ts';
import { SelectField } from '../components/field.tsx';

type Props = {
  projectId: string;
  value: string;
  onChange: (endpointId: string) => void;
  /** The choice of no endpoint. */
  any: string;
};

/** A choice among the endpoints of a project. */
export function EndpointField({ projectId, value, onChange, any }: Props) {
  const endpoints = useQuery(
    read('get /api/v1/projects/{projectId}/endpoints', { params: { projectId }, query: { limit: '200' } }),
  );
  return (
    <SelectField label="Endpoint" value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{any}</option>
      {endpoints.data?.items.map(({ id, url }) => (
        <option key={id} value={id}>
          {url}
        </option>
      ))}
    </SelectField>
  );
}
