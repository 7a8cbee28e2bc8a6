export const languages = ['TypeScript', 'Python', 'Go', 'PHP'] as const;
export type Language = (typeof languages)[number];

type Names = { id: string; timestamp: string; signature: string };

/** The headers that carry the relay's signature: prefixed where the provider itself sends `webhook-*` headers. */
export function signatureHeaders(isPrefixed: boolean): Names {
  const prefix = isPrefixed ? 'hqrelay-' : '';
  return {
    id: `${prefix}webhook-id`,
    timestamp: `${prefix}webhook-timestamp`,
    signature: `${prefix}webhook-signature`,
  };
}

/** Code that verifies a delivery, with nothing but the standard library. */
export function verificationCode(language: Language, names: Names): string {
  return codes[language](names).trim();
}

const codes: Record<Language, (names: Names) => string> = {
  TypeScript: ({ id, timestamp, signature }) => `
import { createHmac, timingSafeEqual } from 'node:crypto';

type Headers = Record<string, string | undefined>;

/** Headers by their names in lower case, the raw bytes of the body, the whsec_… secret. */
export function isFromRelay(headers: Headers, body: Uint8Array, secret: string): boolean {
  const sentAt = headers['${timestamp}'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) < 300)) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key)
    .update(\`\${headers['${id}']}.\${sentAt}.\`)
    .update(body)
    .digest();
  return (headers['${signature}'] ?? '').split(' ').some((each) => {
    const given = Buffer.from(each.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
`,
  Python: ({ id, timestamp, signature }) => `
import base64, hashlib, hmac, time

def is_from_relay(headers: dict, body: bytes, secret: str) -> bool:
    """Headers by their names in lower case, the raw bytes of the body, the whsec_... secret."""
    sent_at = headers.get("${timestamp}", "")
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers.get('${id}')}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = headers.get("${signature}", "").split(" ")
    return any(hmac.compare_digest(each.encode(), expected.encode()) for each in given)
`,
  Go: ({ id, timestamp, signature }) => `
package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// IsFromRelay takes the headers, the raw bytes of the body, and the whsec_… secret.
func IsFromRelay(headers http.Header, body []byte, secret string) bool {
	sentAt := headers.Get("${timestamp}")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(headers.Get("${id}") + "." + sentAt + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, given := range strings.Split(headers.Get("${signature}"), " ") {
		if hmac.Equal([]byte(given), expected) {
			return true
		}
	}
	return false
}
`,
  PHP: ({ id, timestamp, signature }) => `
<?php
/** Headers by their names in lower case, the raw bytes of the body, the whsec_… secret. */
function is_from_relay(array $headers, string $body, string $secret): bool
{
    $sentAt = $headers['${timestamp}'] ?? '';
    if (!ctype_digit($sentAt) || abs(time() - (int) $sentAt) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $signed = ($headers['${id}'] ?? '') . '.' . $sentAt . '.' . $body;
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $headers['${signature}'] ?? '') as $given) {
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}
`,
};
