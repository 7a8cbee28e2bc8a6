import { useState } from 'react';
import { readStored, store } from './stored.ts';

export type Theme = 'system' | 'light' | 'dark';

/** `public/theme.js` applies the stored theme before the first paint. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    const stored = readStored('theme');
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  });
  const choose = (chosen: Theme) => {
    store('theme', chosen === 'system' ? null : chosen);
    if (chosen === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = chosen;
    setTheme(chosen);
  };
  return [theme, choose];
}
