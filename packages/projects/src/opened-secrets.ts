import { signingKeyOf } from '@hqrelay/domain/delivery/outbound-signing';
import type { ClientCertificate, EndpointTls } from '@hqrelay/domain/network/endpoint-tls';
import type { EndpointConfig, ProjectConfig, SealedSecret } from '@hqrelay/domain/project-config';
import { open, SecretUnreadable, type SecretKeys } from '@hqrelay/domain/secrets/secret-box';

export type OpenedSecret = { id: string; key: string; expiresAt: number | null };
/** `signingKey`: the HMAC key that the text `key` stands for. */
export type OpenedSigningSecret = OpenedSecret & { signingKey: Uint8Array };

/** Opens the secrets of each cached configuration once. A secret that cannot be opened is reported and left out. */
export class OpenedSecrets {
  readonly #keys: SecretKeys;
  readonly #onUnreadable: (error: SecretUnreadable) => void;
  readonly #ofProjects = new WeakMap<ProjectConfig, OpenedSecret[]>();
  readonly #settings = new WeakMap<ProjectConfig, Readonly<Record<string, string>>>();
  readonly #ofEndpoints = new WeakMap<EndpointConfig, OpenedSigningSecret[]>();
  readonly #headers = new WeakMap<EndpointConfig, [string, string][]>();
  readonly #tls = new WeakMap<EndpointConfig, EndpointTls>();

  constructor(keys: SecretKeys, onUnreadable: (error: SecretUnreadable) => void) {
    this.#keys = keys;
    this.#onUnreadable = onUnreadable;
  }

  /** Secrets that the provider may sign with at `now`, newest first. */
  ofProject(project: ProjectConfig, now: number): OpenedSecret[] {
    let opened = this.#ofProjects.get(project);
    if (!opened) {
      opened = this.#openAll(project.secrets, 'project_secrets');
      this.#ofProjects.set(project, opened);
    }
    return activeAt(now, opened);
  }

  /** The settings of the project's provider. */
  settingsOf(project: ProjectConfig): Readonly<Record<string, string>> {
    const cached = this.#settings.get(project);
    if (cached) return cached;
    const { sealedSettings: sealed, settingsKeyId: keyId, id } = project;
    const text =
      sealed !== null && keyId !== null
        ? this.#open({ sealed, keyId }, `projects.settings:${id}`)
        : undefined;
    const settings = text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
    this.#settings.set(project, settings);
    return settings;
  }

  /** Opens secrets that no longer verify anything, without keeping them. */
  openRetired<Retired extends { id: string; keyId: string; sealed: string }>(
    retired: readonly Retired[],
  ): (Retired & { key: string })[] {
    return retired.flatMap((secret) => {
      const key = this.#open(secret, `project_secrets:${secret.id}`);
      return key === undefined ? [] : [{ ...secret, key }];
    });
  }

  /** Secrets that sign an endpoint's deliveries at `now`, newest first. */
  ofEndpoint(endpoint: EndpointConfig, now: number): OpenedSigningSecret[] {
    let opened = this.#ofEndpoints.get(endpoint);
    if (!opened) {
      const secrets = this.#openAll(endpoint.secrets, 'endpoint_secrets');
      opened = secrets.map((secret) => ({ ...secret, signingKey: signingKeyOf(secret.key) }));
      this.#ofEndpoints.set(endpoint, opened);
    }
    return activeAt(now, opened);
  }

  /** The fixed headers of the endpoint. */
  headersOf(endpoint: EndpointConfig): [string, string][] {
    const cached = this.#headers.get(endpoint);
    if (cached) return cached;
    const { sealedHeaders, headersKeyId, id } = endpoint;
    const text =
      sealedHeaders !== null && headersKeyId !== null
        ? this.#open({ sealed: sealedHeaders, keyId: headersKeyId }, `endpoints.headers:${id}`)
        : undefined;
    const headers = text === undefined ? [] : (JSON.parse(text) as [string, string][]);
    this.#headers.set(endpoint, headers);
    return headers;
  }

  /** The endpoint's private certificate authorities and the relay's client certificate for it. */
  tlsOf(endpoint: EndpointConfig): EndpointTls {
    const cached = this.#tls.get(endpoint);
    if (cached) return cached;
    const { sealedClientCertificate: sealed, clientCertificateKeyId: keyId, id } = endpoint;
    const text =
      sealed !== null && keyId !== null ? this.#open({ sealed, keyId }, `endpoints.tls:${id}`) : undefined;
    const tls = {
      ca: endpoint.caCertificates ?? undefined,
      client: text === undefined ? undefined : (JSON.parse(text) as ClientCertificate),
    };
    this.#tls.set(endpoint, tls);
    return tls;
  }

  #openAll(sealed: readonly SealedSecret[], table: string): OpenedSecret[] {
    return sealed.flatMap((secret) => {
      const key = this.#open(secret, `${table}:${secret.id}`);
      return key === undefined ? [] : [{ id: secret.id, key, expiresAt: secret.expiresAt }];
    });
  }

  #open(box: { sealed: string; keyId: string }, row: string): string | undefined {
    try {
      return open(this.#keys, box, row);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.#onUnreadable(error);
      return undefined;
    }
  }
}

function activeAt<T extends OpenedSecret>(now: number, secrets: readonly T[]): T[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
}
