/** A key that is reserved with the id's: the same content under another id is a duplicate. */
export type ContentKey = { name: string; ttlSeconds: number };

export const idempotencyKey = (projectId: string, webhookId: string): string =>
  `hqrelay:idempotency:{${projectId}}:${webhookId}`;

export const contentKeyName = (projectId: string, { name }: ContentKey): string =>
  `hqrelay:content:{${projectId}}:${name}`;

export const rateLimitKey = (projectId: string): string => `hqrelay:ratelimit:{${projectId}}`;

/** Counts the repeated answers of a minute. */
export const repeatsKey = (projectId: string): string => `hqrelay:repeats:{${projectId}}`;

/** Since when Redis knows every id of the project, ms. */
export const epochKey = (projectId: string): string => `hqrelay:epoch:{${projectId}}`;

/** The origin of the Redis that the epoch holds for. */
export const originKey = (projectId: string): string => `hqrelay:origin:{${projectId}}`;
