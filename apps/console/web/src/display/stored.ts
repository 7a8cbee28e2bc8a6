/** A choice of the reader that outlives the page; a browser that refuses storage forgets it. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`hqrelay.${name}`);
  } catch {
    return null;
  }
}

export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`hqrelay.${name}`);
    else localStorage.setItem(`hqrelay.${name}`, value);
  } catch {
    // The choice holds until the page is closed.
  }
}
