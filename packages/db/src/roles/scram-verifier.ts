import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const iterations = 4_096;

/**
 * The verifier that Postgres stores instead of a password (RFC 5802, RFC 7677). CREATE ROLE takes it in place of the password,
 * which is then neither sent nor logged.
 */
export async function scramVerifier(password: string, salt: Buffer = randomBytes(16)): Promise<string> {
  const salted = await promisify(pbkdf2)(saslPrepared(password), salt, iterations, 32, 'sha256');
  const hmac = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`;
}

/** Prepares a password as node-postgres and libpq do (RFC 4013). */
function saslPrepared(password: string): string {
  const otherSpace = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g;
  const mappedToNothing = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g;
  return password.replace(otherSpace, ' ').replace(mappedToNothing, '').normalize('NFKC');
}
