export type SmtpServer = {
  host: string;
  port: number;
  secure: boolean;
  requireTLS: boolean;
  auth?: { user: string; pass: string };
  password: string | undefined;
};

/**
 * The server of SMTP_URL: `smtps:` speaks TLS from the beginning (port 465), `smtp:` begins it by STARTTLS (port 587), which a
 * server other than one on loopback has to offer unless the URL says `?requireTLS=false`.
 */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isLoopback = host === 'localhost' || host === '::1' || host.startsWith('127.');
  const user = decodeURIComponent(url.username);
  const password = url.password === '' ? undefined : decodeURIComponent(url.password);
  return {
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLoopback && url.searchParams.get('requireTLS') !== 'false',
    ...(user !== '' && { auth: { user, pass: password ?? '' } }),
    password,
  };
}
