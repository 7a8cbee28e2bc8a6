import { keepPreviousData, queryOptions, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, call } from './call.ts';
import type { InputOf, Reading } from './operations.ts';

/** Options of a query; its key is the operation, then the input, so that a change invalidates by operation. */
export function read<R extends Reading>(operation: R, input: InputOf<R>) {
  return queryOptions({
    queryKey: [operation, input.params ?? null, input.query ?? null] as const,
    queryFn: ({ signal }) => call(operation, input, signal),
  });
}

/** For lists: the rows before stay on the screen until those of the new filter are there. */
export const keepRows = { placeholderData: keepPreviousData } as const;

const me: Reading = 'get /api/v1/me';

export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      // The session ended in the meantime: the shell reads `me` and shows how to sign in again.
      onError(error, query) {
        if (isSignedOut(error) && query.queryKey[0] !== me) {
          void client.invalidateQueries({ queryKey: [me] });
        }
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 600_000,
        retry: (failures, error) => failures < 2 && isTemporary(error),
        refetchOnWindowFocus: true,
      },
    },
  });
  return client;
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode === 401;
}

function isTemporary(error: unknown): boolean {
  return error instanceof ApiError && (error.statusCode === 0 || error.statusCode >= 500);
}
