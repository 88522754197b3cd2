import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const root = fileURLToPath(new URL('src/web', import.meta.url));

/** Builds the pages of `src/web` into `dist/web`; a page is an HTML file in `input`. */
export default defineConfig({
  root,
  // Pages also work under a path of a proxy.
  base: './',
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: fileURLToPath(new URL('dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    // Nothing inline: the content security policy allows files of our own only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: { index: `${root}/index.html`, admin: `${root}/admin.html` },
      onLog(level, log, handle) {
        // Packages mark their modules for servers that render; here all runs in the browser.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
});
