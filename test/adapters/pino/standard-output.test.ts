import { describe, expect, it } from '@jest/globals';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { standardOutput } from '../../../src/adapters/telemetry/pino/standard-output.js';
import { withFolder } from '../../support/folder.js';

describe('the standard output', () => {
  it('gets lines of any text in their order, whether they were known to be ASCII or not', () =>
    withFolder((folder) => {
      const file = join(folder, 'out');
      const descriptor = openSync(file, 'w');
      const output = standardOutput(descriptor);
      output.write('first\n', true);
      output.write('zweite: ü, 🦊\n');
      output.write('third\n', true);
      output.flush();
      output.write('fourth\n', true);
      output.flush();
      expect(readFileSync(file, 'utf8')).toBe('first\nzweite: ü, 🦊\nthird\nfourth\n');
      closeSync(descriptor);
      return Promise.resolve();
    }));
});
