// Runs before the first paint, so that a dark page never flashes light.
try {
  const theme = localStorage.getItem('hqrelay.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser that refuses storage follows the theme of its system.
}
