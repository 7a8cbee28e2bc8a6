const lengthMax = 254;

/**
 * Why a text cannot be the one address that a mail goes to; undefined when it can. Stricter than RFC 5322: no display name, no
 * comment, no quotes, no list, so that it cannot add a recipient or a header.
 */
export function emailAddressProblem(text: string): string | undefined {
  const isAddress = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text);
  if (!isAddress || text.includes('..')) return 'must be one address such as ops@example.com';
  return text.length > lengthMax ? `must have at most ${lengthMax} characters` : undefined;
}
