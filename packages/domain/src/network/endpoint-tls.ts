import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/** The TLS settings of one endpoint, as PEM texts. */
export type EndpointTls = {
  /** The authorities that may have issued its certificate, instead of the system's. */
  ca?: string | undefined;
  /** The relay's certificate for it, followed by the intermediate ones, and the key. */
  client?: ClientCertificate | undefined;
};

export type ClientCertificate = { certificate: string; key: string };

type PemCheck = { ok: true } | { ok: false; reason: string };

const pemBytesMax = 65_536;
const certificatesMax = 50;
const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Whether `pem` is one or more certificates, none of them expired at `now` (ms). */
export function checkAuthorities(pem: string, now: number): PemCheck {
  const read = readCertificates(pem);
  return read.ok ? checkDates(read.certificates, now) : read;
}

/** Whether `certificate` is a certificate that is valid at `now` (ms), and `key` the private key of it. */
export function checkClientCertificate({ certificate, key }: ClientCertificate, now: number): PemCheck {
  const read = readCertificates(certificate);
  if (!read.ok) return read;
  const dates = checkDates(read.certificates, now);
  if (!dates.ok) return dates;
  const own = read.certificates[0]!;
  if (Date.parse(own.validFrom) > now) return refuse(`${nameOf(own)} is not valid before ${own.validFrom}`);

  const privateKey = readKey(key);
  if (!privateKey.ok) return privateKey;
  return own.checkPrivateKey(privateKey.key)
    ? { ok: true }
    : refuse(`the key does not belong to ${nameOf(own)}, the first certificate of the file`);
}

function refuse(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}

function readCertificates(
  pem: string,
): { ok: true; certificates: X509Certificate[] } | { ok: false; reason: string } {
  if (Buffer.byteLength(pem) > pemBytesMax)
    return refuse(`the certificates are longer than ${pemBytesMax} bytes`);
  const blocks = pem.match(certificateBlock) ?? [];
  if (blocks.length === 0)
    return refuse('there is no certificate in PEM format (-----BEGIN CERTIFICATE-----)');
  if (blocks.length > certificatesMax) return refuse(`there are more than ${certificatesMax} certificates`);
  const certificates: X509Certificate[] = [];
  for (const [index, block] of blocks.entries()) {
    try {
      certificates.push(new X509Certificate(block));
    } catch {
      return refuse(`certificate ${index + 1} of ${blocks.length} cannot be read: it is damaged`);
    }
  }
  return { ok: true, certificates };
}

function checkDates(certificates: readonly X509Certificate[], now: number): PemCheck {
  const expired = certificates.find(({ validTo }) => Date.parse(validTo) <= now);
  return expired ? refuse(`${nameOf(expired)} expired on ${expired.validTo}`) : { ok: true };
}

function readKey(pem: string): { ok: true; key: KeyObject } | { ok: false; reason: string } {
  if (Buffer.byteLength(pem) > pemBytesMax) return refuse(`the key is longer than ${pemBytesMax} bytes`);
  if (!/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/.test(pem)) {
    return refuse('there is no private key in PEM format (-----BEGIN PRIVATE KEY-----)');
  }
  if (/ENCRYPTED/.test(pem)) {
    return refuse('the private key is encrypted: remove its pass phrase; the relay stores the key encrypted');
  }
  try {
    return { ok: true, key: createPrivateKey(pem) };
  } catch {
    return refuse('the private key cannot be read: it is damaged or of an unknown kind');
  }
}

function nameOf(certificate: X509Certificate): string {
  const subject = certificate.subject.split('\n').at(-1) || `with serial number ${certificate.serialNumber}`;
  return `the certificate ${JSON.stringify(subject.slice(0, 100))}`;
}
