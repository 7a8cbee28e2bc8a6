const sane = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** The request's own correlation id when it is safe to log and to send on, else one from `newId`. */
export function correlationIdOf(headerValue: string | undefined, newId: () => string): string {
  return headerValue !== undefined && sane.test(headerValue) ? headerValue : newId();
}
