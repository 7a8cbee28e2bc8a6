import { describe, expect, it } from 'vitest';
import { findCredentials, restoreCredentials } from './forwarded-credentials.ts';
import { credentialHeaders, keepHeaders } from './forwarded-headers.ts';

const secrets = [
  { id: 'new', key: 'n3w-s3cret' },
  { id: 'old', key: 'o1d-s3cret' },
];

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('a credential header with a secret of the project', () => {
  it.each([
    ['X-Callback-Token', 'o1d-s3cret'],
    ['Authorization', 'Bearer n3w-s3cret'],
    ['authorization', 'Token token="o1d-s3cret"'],
    ['X-Api-Key', 'key=n3w-s3cret'],
  ])('a credential header is rebuilt from its place: %s: %s', (name, value) => {
    const places = findCredentials(['Host', 'x', name, value], secrets);
    expect(places).toHaveLength(1);
    expect(restoreCredentials(places, secrets)).toEqual([[name, value]]);
  });

  it('the stored place of a credential contains no part of the secret', () => {
    const raw = ['X-Api-Key', 'n3w-s3cret', 'Authorization', 'Bearer o1d-s3cret', 'verif-hash', 'o1d-s3cret'];
    expect(findCredentials(raw, secrets)).toEqual([
      { name: 'X-Api-Key', secretId: 'new', before: '', after: '' },
      { name: 'Authorization', secretId: 'old', before: 'Bearer ', after: '' },
      { name: 'verif-hash', secretId: 'old', before: '', after: '' },
    ]);
    expect(keepHeaders(raw)).toEqual([]);
  });

  it('a credential header with user and password in base64 is rebuilt', () => {
    const account = [{ id: 'account', key: 'user:pässword' }];
    const places = findCredentials(['Authorization', basic('user:pässword')], account);
    expect(JSON.stringify(places)).not.toMatch(/user|dXNlc/);
    expect(restoreCredentials(places, account)).toEqual([['Authorization', basic('user:pässword')]]);
    expect(findCredentials(['Authorization', basic('user:n3w-s3cret')], secrets)).toEqual([]);
  });

  it('a credential header with a secret that is not ASCII is rebuilt', () => {
    const key = 'gehëim₹';
    const wire = Buffer.from(key).toString('latin1');
    const places = findCredentials(['X-Token', wire], [{ id: 'a', key }]);
    expect(restoreCredentials(places, [{ id: 'a', key }])).toEqual([['X-Token', wire]]);
  });

  it('a credential header is rebuilt with the newest secret when its own has been rotated out', () => {
    const places = findCredentials(['Authorization', 'Bearer o1d-s3cret'], secrets);
    expect(restoreCredentials(places, secrets.slice(0, 1))).toEqual([['Authorization', 'Bearer n3w-s3cret']]);
    expect(restoreCredentials(places, [])).toEqual([]);
  });
});

describe('a header of any name with a secret of the project', () => {
  it.each([
    ['X-Our-Own', 'o1d-s3cret'],
    ['X-Our-Own', 'Bearer n3w-s3cret'],
    ['X-Our-Own', 'Token token="o1d-s3cret"'],
  ])('a header of any name with a secret is removed and rebuilt: %s: %s', (name, value) => {
    expect(keepHeaders([name, value, 'X-Kept', '1'], secrets)).toEqual([['X-Kept', '1']]);
    const places = findCredentials([name, value, 'X-Kept', '1'], secrets);
    expect(restoreCredentials(places, secrets)).toEqual([[name, value]]);
  });

  it.each([
    ['the secret has other text around it', 'id=7;secret is o1d-s3cret!'],
    ['the secret is in base64 beside a user', basic('user:n3w-s3cret')],
    ['the secret is percent-encoded', 'https://x.example/?t=p%26ss%20word'],
  ])('a header of any name is removed and not rebuilt when %s', (_, value) => {
    const all = [...secrets, { id: 'account', key: 'user:n3w-s3cret' }, { id: 'odd', key: 'p&ss word' }];
    expect(keepHeaders(['X-Our-Own', value], all)).toEqual([]);
  });

  it('a secret so short that it may be a word makes a header a credential only as its whole value', () => {
    const short = [{ id: 'a', key: 'json' }];
    expect(keepHeaders(['Content-Type', 'application/json'], short)).toHaveLength(1);
    expect(keepHeaders(['X-Our-Own', 'json'], short)).toEqual([]);
  });
});

describe('a credential that is not rebuilt', () => {
  it.each([
    ['is not a secret of the project', ['Authorization', 'Bearer something-else']],
    [
      'has another credential beside it',
      ['Cookie', 'session=0123456789; token=n3w-s3cret', 'X-Token', 'n3w-s3cret,other'],
    ],
    ['is longer than the secret', ['X-Token', 'n3w-s3cret-and-more', 'X-Api-Key', 'more-n3w-s3cret']],
    ['is named by Connection', ['Connection', 'close, X-Token', 'X-Token', 'n3w-s3cret']],
    ['is for a proxy', ['Proxy-Authorization', 'Bearer n3w-s3cret']],
  ])('a credential is not rebuilt when it %s', (_, rawHeaders) => {
    expect(findCredentials(rawHeaders, secrets)).toEqual([]);
  });

  it('a credential beyond the first eight is not rebuilt', () => {
    const raw = [...credentialHeaders].flatMap((name) => [name, 'n3w-s3cret']);
    expect(findCredentials(raw, secrets)).toHaveLength(8);
  });

  // Looking the list through for each header would take minutes.
  it('a credential is looked up among twenty thousand headers that Connection names', () => {
    const options = Array.from({ length: 20_000 }, (_, i) => `x-${i}`).join();
    const raw = Array.from({ length: 20_000 }, () => ['X-Token', 'another token']).flat();
    const found = findCredentials(['Connection', options, ...raw, 'X-Token', 'n3w-s3cret'], secrets);
    expect(found).toHaveLength(1);
  });

  it('a credential that contains a secret of one letter is not rebuilt', () => {
    const short = [{ id: 'short', key: 'e' }];
    expect(findCredentials(['Authorization', 'Bearer eyJhbGciOi', 'X-Token', 'aeb'], short)).toEqual([]);
  });
});
