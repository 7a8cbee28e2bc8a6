/** The value of a request header by its lower-case name, several values joined by `, ` as Node does it. */
export type HeaderLookup = (lowerCaseName: string) => string | undefined;

/** The lookup in ordered pairs of name and value. */
export function headerLookupOf(pairs: readonly (readonly [string, string])[]): HeaderLookup {
  return (lowerCaseName) => {
    const values = pairs.filter(([name]) => name.toLowerCase() === lowerCaseName).map(([, value]) => value);
    return values.length > 0 ? values.join(', ') : undefined;
  };
}
