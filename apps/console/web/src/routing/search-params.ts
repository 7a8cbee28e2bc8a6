/** The parameters of a URL that a page knows, as text. */
export function textParams<const Name extends string>(
  ...names: readonly Name[]
): (search: Record<string, unknown>) => { [N in Name]?: string } {
  return (search) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' && value !== '' ? [[name, value]] : [];
      }),
    ) as { [N in Name]?: string };
}
