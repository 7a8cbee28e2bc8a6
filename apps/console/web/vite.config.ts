import tailwindcss from '@tailwindcss/vite';
import { defaultClientConditions, defineConfig } from 'vite';

const { CONSOLE_TARGET = 'http://127.0.0.1:3002', CONSOLE_KEY } = process.env;

/** `npm run dev:web -w @hqrelay/console` serves the pages beside a running console, as the API key of CONSOLE_KEY. */
const proxied = {
  target: CONSOLE_TARGET,
  ...(CONSOLE_KEY !== undefined && { headers: { authorization: `Bearer ${CONSOLE_KEY}` } }),
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
  resolve: { conditions: ['@hqrelay/source', ...defaultClientConditions] },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // The `'use client'` of Base UI's modules means nothing here.
    rolldownOptions: {
      onLog: (level, log, write) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && write(level, log),
    },
  },
  server: { proxy: { '/api': proxied } },
  preview: { proxy: { '/api': proxied } },
});
