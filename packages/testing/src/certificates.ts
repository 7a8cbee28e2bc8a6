import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** PEM texts, and the files they are in. */
export type Certificate = { certificate: string; key: string; certificateFile: string; keyFile: string };

export type Certificates = {
  /** Self-signed unless there is an issuer; valid until 2099 unless told otherwise (`20210101000000Z`). */
  issue: (name: string, options?: { issuer?: Certificate; notAfter?: string }) => Certificate;
  /** Removes the files. */
  remove: () => void;
};

/** Certificates from openssl: only its `ca` can set a validity in the past. */
export function createCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'hqrelay-tls-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const file = (name: string) => join(folder, name);
  let issued = 0;
  return {
    issue(name, { issuer, notAfter = '20990101000000Z' } = {}) {
      issued += 1;
      const keyFile = file(`${issued}.key`);
      const certificateFile = file(`${issued}.crt`);
      writeFileSync(file('index'), '');
      writeFileSync(file('serial'), String(issued).padStart(4, '0'));
      writeFileSync(
        file('config'),
        '[ca]\ndefault_ca=a\n[a]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n' +
          `x509_extensions=e\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=DNS:${name}\n` +
          `basicConstraints=CA:${issuer ? 'FALSE' : 'TRUE'}\n`,
      );
      openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', keyFile);
      openssl('req', '-new', '-key', keyFile, '-subj', `/CN=${name}`, '-out', file('csr'));
      const signer = issuer
        ? ['-cert', issuer.certificateFile, '-keyfile', issuer.keyFile]
        : ['-selfsign', '-keyfile', keyFile];
      const validity = ['-startdate', '20200101000000Z', '-enddate', notAfter];
      const files = ['-in', file('csr'), '-out', certificateFile];
      openssl('ca', '-batch', '-notext', '-config', 'config', ...signer, ...files, ...validity);
      const read = (name: string) => readFileSync(name, 'utf8');
      return { certificate: read(certificateFile), key: read(keyFile), certificateFile, keyFile };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
