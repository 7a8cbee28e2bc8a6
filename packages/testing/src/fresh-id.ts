import { newId } from '@hqrelay/domain/ids';

/** A new UUIDv7 with the current time inside. */
export function freshId(): string {
  return newId(Date.now());
}
