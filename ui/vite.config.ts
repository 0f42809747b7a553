/// <reference types="vitest/config" />
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const server = process.env.MNEMOIR_URL ?? 'http://127.0.0.1:6060';

export default defineConfig({
  plugins: [singleIcons(), react()],
  base: './', // below whatever path the server is reached at; index.html has a <base>
  html: { cspNonce: 'MNEMOIR_NONCE' }, // the server puts a new one in its place with each answer
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: process.env.MNEMOIR_UI_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // a data: URL would need a wider Content-Security-Policy
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' }, // of everything that is bundled: their terms ask for it
    reportCompressedSize: true,
    chunkSizeWarningLimit: 900,
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(
      ['/api', '/v1', '/health', '/ready', '/docs', '/openapi.json'].map(path => [path, server]),
    ),
  },
  test: {
    include: ['src/**/*.test.{ts,tsx}'],
    environment: 'jsdom',
    globals: true,
    setupFiles: ['src/shared/testing/setup.ts'],
    css: false,
    restoreMocks: true,
    testTimeout: 180_000, // many may run at once on a small machine
    pool: 'threads',
    isolate: false, // modules are loaded once for all files of a process; setup.ts clears what tests change in them
  },
});

/** Each icon as a module of its own: the one file that has them all would come with the first page, for all pages. */
function singleIcons(): Plugin {
  const all = readFileSync(new URL('./node_modules/react-icons/tb/index.mjs', import.meta.url), 'utf8');
  const id = /^\0?react-icons\/tb\/(Tb\w+)$/;
  return {
    name: 'single-icons',
    apply: 'build',
    enforce: 'pre',
    transform: code =>
      code.replace(/import \{([^}]*)\} from 'react-icons\/tb';/g, (_, names: string) =>
        [...names.matchAll(/\w+/g)].map(([name]) => `import { ${name} } from 'react-icons/tb/${name}';`).join(' '),
      ),
    resolveId: source => (id.test(source) ? `\0${source}` : undefined),
    load(module) {
      const [, name] = id.exec(module) ?? [];
      if (name === undefined) return undefined;
      const [icon] = new RegExp(`export function ${name} \\([^]*?\\n\\};`).exec(all) ?? [];
      if (icon === undefined) throw new Error(`react-icons/tb has no ${name}.`);
      return `import { GenIcon } from 'react-icons/lib';\n${icon}`;
    },
  };
}
