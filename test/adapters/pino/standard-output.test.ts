import { describe, expect, it } from '@jest/globals';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { standardOutput } from '../../../src/adapters/telemetry/pino/standard-output.js';
import { withFolder } from '../../support/folder.js';

describe('the standard output', () => {
  it('gets lines of any text in their order', () =>
    withFolder((folder) => {
      const file = join(folder, 'out');
      const descriptor = openSync(file, 'w');
      const output = standardOutput(descriptor);
      output.write('first\n');
      output.write('zweite: ü, 🦊\n');
      output.write('third\n');
      output.flush();
      output.write('fourth\n');
      output.flush();
      expect(readFileSync(file, 'utf8')).toBe('first\nzweite: ü, 🦊\nthird\nfourth\n');
      closeSync(descriptor);
      return Promise.resolve();
    }));
});
