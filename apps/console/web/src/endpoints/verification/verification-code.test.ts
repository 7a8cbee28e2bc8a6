import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliveryHeaders, newSigningSecret, signingKeyOf } from '@hqrelay/domain/delivery/outbound-signing';
import { afterAll, describe, expect, it } from 'vitest';
import { signatureHeaders, verificationCode, type Language } from './verification-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'hqrelay-verify-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Delivery = { headers: Record<string, string>; body: string; secret: string };

/** Runs the code of a language on a delivery: each program reads it as JSON from stdin and prints true or false. */
const programs: Record<Language, { file: string; command: string[]; wrap: (code: string) => string }> = {
  TypeScript: {
    file: 'verify.mts',
    command: ['node', '--import', import.meta.resolve('tsx')],
    wrap: (code) => `${code}
import { readFileSync } from 'node:fs';
const { headers, body, secret } = JSON.parse(readFileSync(0, 'utf8'));
console.log(isFromRelay(headers, Buffer.from(body), secret));`,
  },
  Python: {
    file: 'verify.py',
    command: ['python3'],
    wrap: (code) => `${code}
import json, sys
given = json.load(sys.stdin)
print(str(is_from_relay(given["headers"], given["body"].encode(), given["secret"])).lower())`,
  },
  Go: {
    file: 'verify.go',
    command: ['go', 'run'],
    wrap: (
      code,
    ) => `${code.replace('package relay', 'package main').replace('"net/http"', '"encoding/json"\n"fmt"\n"net/http"\n"os"')}
func main() {
	var given struct { Headers map[string]string; Body, Secret string }
	json.NewDecoder(os.Stdin).Decode(&given)
	headers := http.Header{}
	for name, value := range given.Headers { headers.Set(name, value) }
	fmt.Println(IsFromRelay(headers, []byte(given.Body), given.Secret))
}`,
  },
  PHP: {
    file: 'verify.php',
    command: ['php'],
    wrap: (code) => `${code}
$given = json_decode(stream_get_contents(STDIN), true);
echo is_from_relay($given['headers'], $given['body'], $given['secret']) ? 'true' : 'false';`,
  },
};

describe.each(['TypeScript', 'Python', 'Go', 'PHP'] as const)('the code in %s', (language) => {
  const { file, command, wrap } = programs[language];
  const [program = '', ...args] = command;
  const isInstalled = spawnSync(program, ['version']).error === undefined;

  it.skipIf(!isInstalled).each([false, true])(
    'takes a delivery of the relay and refuses an altered or old one (prefixed headers: %s)',
    { timeout: 300_000 },
    (isPrefixed) => {
      const path = join(folder, `${isPrefixed ? 'prefixed-' : ''}${file}`);
      writeFileSync(path, wrap(verificationCode(language, signatureHeaders(isPrefixed))));
      const verify = (delivery: Delivery) =>
        execFileSync(program, [...args, path], { input: JSON.stringify(delivery) })
          .toString()
          .trim();

      const delivery = deliveryNow(isPrefixed);
      expect(verify(delivery)).toBe('true');
      expect(verify({ ...delivery, body: `${delivery.body} ` })).toBe('false');
      expect(verify({ ...delivery, secret: newSigningSecret() })).toBe('false');
      expect(verify(deliveryNow(isPrefixed, 400_000))).toBe('false');
    },
  );
});

/** A delivery signed with two secrets, as during a rotation. */
function deliveryNow(isPrefixed: boolean, ageMs = 0): Delivery {
  const secret = newSigningSecret();
  const body = '{"order":"4711 ฿"}';
  const headers = deliveryHeaders({
    providerHeaders: isPrefixed ? [['webhook-id', 'msg_1']] : [],
    fixedHeaders: [],
    signingKeys: [signingKeyOf(newSigningSecret()), signingKeyOf(secret)],
    webhookLogId: '0199a000-0000-7000-8000-000000000001',
    attemptNum: 1,
    correlationId: 'c',
    body: Buffer.from(body),
    now: Date.now() - ageMs,
  });
  return { headers: Object.fromEntries(headers), body, secret };
}
