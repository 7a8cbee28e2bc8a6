import type { ProviderRequest } from '../provider-case.ts';

/** The request without a header. */
export function withoutHeader(name: string): (request: ProviderRequest) => ProviderRequest {
  return (request) => {
    const { [name]: _, ...headers } = request.headers;
    return { ...request, headers };
  };
}

/** The request with the signature of another one before its own, in the same header. */
export function listedAfterAnother(name: string, separator: string) {
  return (request: ProviderRequest, other: ProviderRequest): ProviderRequest => ({
    ...request,
    headers: { ...request.headers, [name]: `${other.headers[name]}${separator}${request.headers[name]}` },
  });
}
