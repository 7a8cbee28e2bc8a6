import { z } from 'zod';

/** A UUID, in lower case once it is parsed, as Postgres prints it. */
export const uuid = z
  .guid({ error: 'expected a UUID' })
  .transform((text) => text.toLowerCase())
  .meta({ format: 'uuid' });

/** A UUID of an answer. */
export const id = z.guid().meta({ format: 'uuid' });

/** A time of an answer: a Date inside, ISO 8601 in UTC outside. */
export const time = z.codec(z.date(), z.iso.datetime(), {
  decode: (date) => date.toISOString(),
  encode: (text) => new Date(text),
});

/** A time of a request, ISO 8601 with a zone; ms since epoch once it is parsed. */
export const moment = z.iso
  .datetime({ offset: true, error: 'expected a time such as 2026-03-01T02:13:00Z' })
  .transform((text) => Date.parse(text));

/** A whole number of a query string. */
export function queryInteger(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, { error: `expected a whole number from ${min} to ${max}` })
    .transform(Number)
    .refine((value) => value >= min && value <= max, {
      error: `expected a whole number from ${min} to ${max}`,
    })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

export const queryFlag = z
  .enum(['true', 'false'], { error: 'expected true or false' })
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: [true, false] });

/** Text of one line. */
export function label(lengthMax: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(lengthMax)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), {
      error: 'must not have a control character',
    });
}

/** What every list takes. */
export const pageQuery = {
  limit: queryInteger(1, 200).default(50).describe('How many items at most: 1 to 200, 50 when not given.'),
  cursor: z.string().max(500).optional().describe('nextCursor or prevCursor of an earlier page.'),
};

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('The page after this one; null when there is none.'),
    prevCursor: z.string().nullable().describe('The page before this one; null when there is none.'),
  });
}
