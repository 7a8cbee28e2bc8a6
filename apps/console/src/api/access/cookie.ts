import type { Request, Response } from 'express';

export type CookieConfig = {
  /** CONSOLE_URL. */
  consoleUrl: string | undefined;
  /** Whether a page of another site may show the console in a frame. */
  isEmbedded: boolean;
};

const plainName = 'hqrelay_session';
/** Browsers take a cookie of this name from this host alone, over TLS. */
const secureName = `__Host-${plainName}`;

/** The token in the session cookie of a request. */
export function readSessionCookie(request: Request, config: CookieConfig): string | undefined {
  const name = isOverTls(request, config) ? secureName : plainName;
  for (const pair of (request.get('cookie') ?? '').split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}

/**
 * The cookie of a session that has ended stays until it expires: deleted by a late answer to another tab, it could be the one of
 * the next sign-in.
 */
export function setSessionCookie(
  { request, response }: { request: Request; response: Response },
  config: CookieConfig,
  { token, expiresAt }: { token: string; expiresAt: Date },
): void {
  const isSecure = isOverTls(request, config);
  response.cookie(isSecure ? secureName : plainName, token, {
    ...attributesOf(isSecure, config),
    expires: expiresAt,
  });
}

/** A frame of another site gets its cookie only with `None`, which needs TLS; `Partitioned` binds it to the site around the frame. */
function attributesOf(isSecure: boolean, { isEmbedded }: CookieConfig) {
  return {
    path: '/',
    httpOnly: true,
    secure: isSecure,
    ...(isEmbedded && isSecure
      ? ({ sameSite: 'none', partitioned: true } as const)
      : ({ sameSite: 'lax' } as const)),
  };
}

function isOverTls(request: Request, { consoleUrl }: CookieConfig): boolean {
  return consoleUrl?.startsWith('https:') === true || request.secure;
}
