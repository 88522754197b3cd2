import { beforeEach, describe, expect, it } from '@jest/globals';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { standardOutput, type LogOutput } from '../../../src/adapters/telemetry/pino/standard-output.js';
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

  describe('of a full disk', () => {
    /** The bytes that the disk takes before it is full. */
    let space: number;
    let written: string;
    let output: LogOutput;

    beforeEach(() => {
      space = Infinity;
      written = '';
      output = standardOutput(1, (_descriptor, bytes) => {
        if (space === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        const taken = Buffer.from(bytes).subarray(0, space);
        space -= taken.length;
        written += taken.toString();
        return taken.length;
      });
    });

    function say(...lines: string[]): void {
      for (const line of lines) output.write(`${line}\n`);
      output.flush();
    }

    it('loses lines without throwing, and says how many once it can write again', () => {
      say('first');
      space = 0;
      say('second', 'third');
      say('fourth');
      expect(written).toBe('first\n');
      space = Infinity;
      say('fifth');
      say('sixth');
      const lines = written.split('\n');
      expect(JSON.parse(lines[1] ?? '')).toMatchObject({ level: 'warn', lines: 3, msg: 'lost log lines' });
      expect(lines.toSpliced(1, 1)).toEqual(['first', 'fifth', 'sixth', '']);
    });

    it('begins a new line after one that was cut', () => {
      space = 3;
      say('first', 'second');
      space = Infinity;
      say('third');
      const lines = written.split('\n');
      expect(JSON.parse(lines[1] ?? '')).toMatchObject({ lines: 2 });
      expect(lines.toSpliced(1, 1)).toEqual(['fir', 'third', '']);
    });

    it('counts lines on when there is no space for their number either', () => {
      space = 0;
      say('first');
      space = 10;
      say('second');
      expect(written).toHaveLength(10);
      space = Infinity;
      say('third');
      const lines = written.split('\n');
      expect(JSON.parse(lines[1] ?? '')).toMatchObject({ lines: 2 });
      expect(lines[2]).toBe('third');
    });
  });

  it('waits for a reader that is slower than the log', () => {
    let isBusy = true;
    let written = '';
    const output = standardOutput(1, (_descriptor, bytes) => {
      isBusy = !isBusy;
      if (!isBusy) throw Object.assign(new Error('try again'), { code: 'EAGAIN' });
      written += Buffer.from(bytes).toString();
      return bytes.length;
    });
    output.write('first\n');
    output.flush();
    expect(written).toBe('first\n');
  });
});
