/** Tests are TypeScript, compiled file by file; types are checked by `npm run types`. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  // Made-up inputs are the same in every run; `PROPERTY_SEED=random` makes others.
  setupFiles: ['<rootDir>/test/support/property-seed.ts'],
  injectGlobals: false,
  // Modules of a file that has run stay in memory (https://github.com/jestjs/jest/issues/14605), and those of all files
  // do not fit into one process: a worker that has grown is replaced. With the limit, one worker is a process, too.
  workerIdleMemoryLimit: '1GB',
  // A bound against hanging, far above what any test takes, however busy the machine is.
  testTimeout: 60_000,
};
