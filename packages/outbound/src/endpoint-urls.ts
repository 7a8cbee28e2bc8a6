import { checkEndpointUrl, type NetworkPolicy } from '@hqrelay/domain/network/network-policy';

/** An allowed URL with its parts: `URL` derives each of them again whenever it is read. */
export interface EndpointUrl {
  ok: true;
  url: URL;
  origin: string;
  path: string;
}

type Checked = EndpointUrl | { ok: false; reason: string };

const urlsMax = 1_000;

/** The results of `checkEndpointUrl` for the latest 1,000 URLs: every send needs one, and an IP literal costs 10 µs. */
export function createEndpointUrls(policy: NetworkPolicy): (text: string) => Checked {
  const checks = new Map<string, Checked>();
  return (text) => {
    const latest = checks.get(text);
    if (latest) return latest;
    const checked = check(policy, text);
    const [oldest] = checks.keys();
    if (checks.size >= urlsMax && oldest !== undefined) checks.delete(oldest);
    checks.set(text, checked);
    return checked;
  };
}

function check(policy: NetworkPolicy, text: string): Checked {
  const checked = checkEndpointUrl(policy, text);
  if (!checked.ok) return checked;
  const { url } = checked;
  return { ok: true, url, origin: url.origin, path: url.pathname + url.search };
}
