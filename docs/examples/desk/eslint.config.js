// Plain JavaScript: the checks of the checkout that need no types.
import js from '@eslint/js';

export default [
  js.configs.recommended,
  {
    languageOptions: {
      globals: { URL: 'readonly', URLSearchParams: 'readonly', console: 'readonly', fetch: 'readonly' },
    },
  },
];
