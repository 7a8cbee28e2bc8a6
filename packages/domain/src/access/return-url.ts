const lengthMax = 2_000;

/**
 * Why a text cannot be the `returnUrl` of a sign-in link; undefined when it can. It is a path of the console (`/webhooks/…`), which
 * opens after the sign-in, or an http(s) URL, which the pages show as a plain link and never follow by themselves.
 */
export function returnUrlProblem(text: string): string | undefined {
  if (text.length > lengthMax) return `must have at most ${lengthMax} characters`;
  // Browsers skip control characters, and read a backslash as a slash.
  if (/[\p{Cc}\s\\]/u.test(text)) return 'must have no space, control character or backslash';
  if (text.startsWith('/')) {
    return text.startsWith('//') ? 'must be a path of the console, which begins with one slash' : undefined;
  }
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) {
    return 'must be a path of the console that begins with /, or a URL that begins with https:// or http://';
  }
  const { username, password } = new URL(text);
  return username === '' && password === '' ? undefined : 'must not contain credentials';
}
