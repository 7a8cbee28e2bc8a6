/** The address whose sender is one party: an IPv4 address, or the /64 of an IPv6 address, of which one host has 2^64. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1] as string;
  const [head = '', tail = ''] = address.replace(/%.*$/, '').split('::', 2);
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const zeros = address.includes('::')
    ? Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
    : [];
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
}
