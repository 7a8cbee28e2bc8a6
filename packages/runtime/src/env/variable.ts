import type { z } from 'zod';

export interface Variable<
  Key extends string = string,
  Schema extends z.ZodType = z.ZodType,
  Unset = unknown,
> {
  /** The name in a loaded config. */
  key: Key;
  schema: Schema;
  /**
   * The meaning of an unset variable: `required` is a problem, `text` is parsed, `value` is used without parsing, `variable`
   * names the variable that is read in its place.
   */
  whenUnset: { required: true } | { text: string } | { value: Unset; meaning: string } | { variable: string };
  /** `secret` is never shown; a `url` is shown without its password. */
  shown: 'value' | 'url' | 'secret';
  unit?: 'bytes' | 'milliseconds' | 'seconds' | 'days';
  example: string;
  description: string;
  /** Why no program reads the variable yet, although its name is part of the contract. */
  reserved?: string;
}

export function variable<const Key extends string, Schema extends z.ZodType, const Unset = never>(
  definition: Variable<Key, Schema, Unset>,
): Variable<Key, Schema, Unset> {
  return definition;
}
