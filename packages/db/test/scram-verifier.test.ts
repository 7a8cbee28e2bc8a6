import { createHash, createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { scramVerifier } from '../src/roles/scram-verifier.ts';

it('a SCRAM verifier holds the keys of the exchange that RFC 7677 prints', async () => {
  const salt = 'W22ZaJ0SNY7soEsUEjb6gQ==';
  const authMessage =
    'n=user,r=rOprNGfwEbeRWgbNEkqO,' +
    `r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=${salt},i=4096,` +
    'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
  const proof = Buffer.from('dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=', 'base64');

  const verifier = await scramVerifier('pencil', Buffer.from(salt, 'base64'));

  const [, storedText = '', serverText = ''] =
    /^SCRAM-SHA-256\$4096:W22ZaJ0SNY7soEsUEjb6gQ==\$([^:]+):(.+)$/.exec(verifier) ?? [];
  const [storedKey, serverKey] = [Buffer.from(storedText, 'base64'), Buffer.from(serverText, 'base64')];
  const clientSignature = createHmac('sha256', storedKey).update(authMessage).digest();
  const clientKey = proof.map((byte, index) => byte ^ clientSignature[index]!);
  expect(createHash('sha256').update(clientKey).digest()).toEqual(storedKey);
  expect(createHmac('sha256', serverKey).update(authMessage).digest('base64')).toBe(
    '6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  );
});

it('every verifier has a salt of its own', async () => {
  expect(await scramVerifier('pencil')).not.toBe(await scramVerifier('pencil'));
});
