import { fileURLToPath } from 'node:url';
import js from '@eslint/js';
import boundaries from 'eslint-plugin-boundaries';
import a11y from 'eslint-plugin-jsx-a11y';
import hooks from 'eslint-plugin-react-hooks';
import ts from 'typescript-eslint';

const REQUESTS = 'Requests and cache keys belong in src/shared/data.';
const ONLY_IN_DATA = [
  { name: '@tanstack/react-query', allowImportNames: ['QueryClientProvider'], message: REQUESTS },
];
const CLIENT = { group: ['**/api/client'], allowImportNames: ['serverUrl'], message: REQUESTS };
const KEYS = { group: ['**/data/**/keys'], message: REQUESTS };
const ADDRESS = {
  name: 'react-router',
  importNames: ['useSearchParams'],
  message: 'Only useAddressParams reads and changes the parameters of an address.',
};

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/shared/api/schema.d.ts'] },
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  a11y.flatConfigs.recommended,
  hooks.configs.flat.recommended,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { boundaries },
    settings: {
      'import/resolver': { [fileURLToPath(new URL('./eslint.resolver.cjs', import.meta.url))]: {} },
      'boundaries/elements': [
        { type: 'app', pattern: 'src/app' },
        { type: 'feature', pattern: 'src/features/*', capture: ['feature'] },
        { type: 'shared', pattern: 'src/shared' },
      ],
    },
    rules: {
      // shared → features → app; a feature can be deleted, so no other one may lean on it
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          policies: [
            {
              from: { element: { type: 'app' } },
              allow: [{ to: { element: { type: ['app', 'feature', 'shared'] } } }],
            },
            {
              from: { element: { type: 'feature' } },
              allow: [
                { to: { element: { type: 'shared' } } },
                { to: { element: { type: 'feature', captured: { feature: '{{from.element.captured.feature}}' } } } },
              ],
            },
            { from: { element: { type: 'shared' } }, allow: [{ to: { element: { type: 'shared' } } }] },
          ],
        },
      ],
      // what scrolls must be reachable by keyboard
      'jsx-a11y/no-noninteractive-tabindex': ['error', { tags: [], roles: ['tabpanel', 'region', 'group'] }],
      'react-hooks/incompatible-library': 'off', // the React compiler is not used
      'no-console': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    },
  },
  {
    // each request stands in one place, each cache key as well: shared/data has them all
    files: ['src/**'],
    ignores: ['src/shared/data/**', 'src/shared/api/**'],
    rules: {
      'no-restricted-imports': ['error', { paths: [...ONLY_IN_DATA, ADDRESS], patterns: [CLIENT, KEYS] }],
      'no-restricted-globals': ['error', { name: 'fetch', message: REQUESTS }],
    },
  },
  {
    files: ['src/shared/hooks/useAddressParams.ts'],
    rules: { 'no-restricted-imports': ['error', { paths: ONLY_IN_DATA, patterns: [CLIENT, KEYS] }] },
  },
  {
    files: ['*.js', '*.cjs'],
    extends: [ts.configs.disableTypeChecked],
    languageOptions: { globals: { module: true, require: true, __dirname: true, URL: true } },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
