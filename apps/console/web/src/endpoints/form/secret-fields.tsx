import type { Endpoint } from '../../api/entities.ts';
import { CheckField, TextAreaField } from '../../components/field.tsx';
import type { FieldsProps } from './endpoint-form.tsx';

/** Headers and certificates. Their stored values are never shown: they are kept, replaced or removed. */
export function SecretFields({ fields, set, endpoint }: FieldsProps & { endpoint?: Endpoint }) {
  return (
    <>
      <TextAreaField
        label={labelOf('Fixed headers', endpoint?.hasHeaders)}
        hint="Stored encrypted and never shown again."
        placeholder="Name: value, one a line"
        disabled={fields.removesHeaders}
        value={fields.headers}
        onChange={({ target }) => set({ headers: target.value })}
      />
      {endpoint?.hasHeaders === true && (
        <CheckField
          label="Remove its fixed headers"
          checked={fields.removesHeaders}
          onChange={({ target }) => set({ removesHeaders: target.checked, headers: '' })}
        />
      )}
      <CheckField
        label="Forward the provider's credential"
        hint="Such as its Authorization header, which is taken off otherwise."
        checked={fields.forwardCredentials}
        onChange={({ target }) => set({ forwardCredentials: target.checked })}
      />
      <CertificateFields fields={fields} set={set} {...(endpoint && { endpoint })} />
    </>
  );
}

function CertificateFields({ fields, set, endpoint }: FieldsProps & { endpoint?: Endpoint }) {
  return (
    <>
      <TextAreaField
        label={labelOf('Certificate authorities', endpoint?.hasCa)}
        hint="PEM. The certificate of the endpoint must be of one of them. Empty takes the public ones."
        placeholder="-----BEGIN CERTIFICATE-----"
        disabled={fields.removesCa}
        value={fields.caCertificates}
        onChange={({ target }) => set({ caCertificates: target.value })}
      />
      {endpoint?.hasCa === true && (
        <CheckField
          label="Remove its certificate authorities"
          checked={fields.removesCa}
          onChange={({ target }) => set({ removesCa: target.checked, caCertificates: '' })}
        />
      )}
      <ClientCertificateFields fields={fields} set={set} {...(endpoint && { endpoint })} />
    </>
  );
}

function ClientCertificateFields({ fields, set, endpoint }: FieldsProps & { endpoint?: Endpoint }) {
  return (
    <>
      <TextAreaField
        label={labelOf('Client certificate', endpoint?.hasClientCertificate)}
        hint="PEM, for an endpoint that asks the relay for one (mutual TLS)."
        placeholder="-----BEGIN CERTIFICATE-----"
        disabled={fields.removesClientCertificate}
        value={fields.clientCertificate}
        onChange={({ target }) => set({ clientCertificate: target.value })}
      />
      <TextAreaField
        label={labelOf('Key of the client certificate', endpoint?.hasClientCertificate)}
        hint="PEM. Stored encrypted and never shown again."
        placeholder="-----BEGIN PRIVATE KEY-----"
        disabled={fields.removesClientCertificate}
        value={fields.clientKey}
        onChange={({ target }) => set({ clientKey: target.value })}
      />
      {endpoint?.hasClientCertificate === true && (
        <CheckField
          label="Remove its client certificate"
          checked={fields.removesClientCertificate}
          onChange={({ target }) =>
            set({ removesClientCertificate: target.checked, clientCertificate: '', clientKey: '' })
          }
        />
      )}
    </>
  );
}

function labelOf(name: string, isStored = false): string {
  return isStored ? `${name} (empty keeps the stored one)` : name;
}
