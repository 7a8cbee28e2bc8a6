import { checkEndpointUrl, type NetworkPolicy } from '@hqrelay/domain/network/network-policy';

type EndpointUrl = ReturnType<typeof checkEndpointUrl>;

const urlsMax = 1_000;

/** The results of `checkEndpointUrl` for the latest 1,000 URLs: every send needs one, and an IP literal costs 10 µs. */
export function createEndpointUrls(policy: NetworkPolicy): (url: string) => EndpointUrl {
  const checks = new Map<string, EndpointUrl>();
  return (url) => {
    const latest = checks.get(url);
    if (latest) return latest;
    const check = checkEndpointUrl(policy, url);
    const [oldest] = checks.keys();
    if (checks.size >= urlsMax && oldest !== undefined) checks.delete(oldest);
    checks.set(url, check);
    return check;
  };
}
