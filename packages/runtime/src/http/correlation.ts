import { newId } from '@hqrelay/domain/ids';

const sane = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** The request's own correlation id when it is safe to log and to send on, else a new UUIDv7 of this time. */
export function correlationIdOf(headerValue: string | undefined, nowMs: number): string {
  return headerValue !== undefined && sane.test(headerValue) ? headerValue : newId(nowMs);
}
