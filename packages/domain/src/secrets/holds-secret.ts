type Secret = { key: string };

/** Shorter secrets may be words, such as `json`; they are found only where nothing stands beside them. */
const lengthMin = 8;

const testOfSecrets = new WeakMap<Secret, (value: string) => boolean>();

/** Whether a header value, as Node reads it (Latin-1), contains one of the keys: as it is, in base64 or percent-encoded. */
export function holdsSecret(value: string, secrets: readonly Secret[]): boolean {
  return secrets.some((secret) => testOf(secret)(value));
}

/** The forms of each secret are computed once: they are compared with every header of every request. */
function testOf(secret: Secret): (value: string) => boolean {
  let test = testOfSecrets.get(secret);
  if (!test) {
    test = testFor(secret.key);
    testOfSecrets.set(secret, test);
  }
  return test;
}

function testFor(key: string): (value: string) => boolean {
  const wire = Buffer.from(key).toString('latin1');
  if (key === '') return () => false;
  if (key.length < lengthMin) return (value) => value === wire;
  const encoded = Buffer.from(key).toString('base64').replace(/=+$/, '');
  const forms = [...new Set([wire, encoded, encodeURIComponent(key)])];
  return (value) => forms.some((form) => value.includes(form));
}
