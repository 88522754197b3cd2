import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Who may import whom. `test/architecture.test.ts` holds the same rules over the built import graph. */
const boundaries = [
  { files: ['src/core/*.ts'], forbid: '^(?!\\./)' },
  { files: ['src/core/*/**'], forbid: '^(?!\\.\\.?/)|\\.\\./\\.\\./' },
  { files: ['src/client/*.ts'], forbid: '^(?!\\./|eventsource-parser$)' },
  { files: ['src/client/*/**'], forbid: '^(?!\\.\\.?/)|\\.\\./\\.\\./' },
  { files: ['src/client/ai-sdk/**'], forbid: '^(?!\\.\\.?/|ai$)|\\.\\./\\.\\./' },
  {
    files: ['src/client/assistant-ui/**'],
    forbid: '^(?!\\.\\.?/|react$|@assistant-ui/react$)|\\.\\./\\.\\./',
  },
  {
    files: ['src/adapters/**'],
    forbid: '\\.\\./\\.\\./http/|/(surfaces|cli)/|\\.\\./(app|config|main)\\.js$',
  },
  { files: ['src/http/**'], forbid: '/(adapters|surfaces|pages|cli)/|\\.\\./(app|config|main)\\.js$' },
  { files: ['src/pages/**'], forbid: '/(adapters|core|surfaces|cli)/|\\.\\./(app|config|main)\\.js$' },
  { files: ['src/surfaces/**'], forbid: '/(adapters|pages|cli)/|\\.\\./(app|config|main)\\.js$' },
  {
    files: ['src/surfaces/current/**'],
    forbid: '/(adapters|pages|cli|legacy|field)/|\\.\\./(app|config|main)\\.js$',
  },
  {
    files: ['src/surfaces/legacy/**'],
    forbid: '/(adapters|pages|cli|current|field)/|\\.\\./(app|config|main)\\.js$',
  },
  {
    files: ['src/surfaces/field/**'],
    forbid: '/(adapters|pages|cli|current|legacy)/|\\.\\./(app|config|main)\\.js$',
  },
  // The pages run in browsers: of the house they know the client alone.
  {
    files: ['src/web/**'],
    forbid:
      '\\.\\./(adapters|cli|config|core|http|surfaces|composition|pages)/|\\.\\./(app|config|main|banner|version)\\.js$',
  },
];

export default tseslint.config(
  { ignores: ['**/dist/**', 'coverage/**', 'data/**'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './tsconfig.web.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'No default exports.' },
        {
          selector: "MemberExpression[object.name='AbortSignal'][property.name='any']",
          message: 'It leaks on sources that live long: use linkSignals of core/model/abort.ts.',
        },
      ],
      'max-lines': ['error', { max: 300 }],
    },
  },
  ...boundaries.map(({ files, forbid }) => ({
    files,
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex: forbid }] }] },
  })),
  {
    files: ['src/**'],
    ignores: ['src/config.ts', 'src/main.ts', 'src/cli/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config.ts reads the environment.' },
      ],
    },
  },
  { files: ['src/cli/**', 'test/**'], rules: { 'no-console': 'off' } },
  { files: ['test/**'], rules: { 'max-lines': ['error', { max: 600 }] } },
  {
    files: ['test/**/*.mjs', 'tools/**', 'packages/**'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { parserOptions: { project: false } },
  },
  {
    files: ['*.config.js', '*.config.ts'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { 'no-restricted-syntax': 'off', '@typescript-eslint/no-deprecated': 'off' },
  },
);
