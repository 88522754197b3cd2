import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

/** The flags of Node in each of the commands that start the service (docs/decisions/019-young-space.md, 021-old-space.md). */
const FLAGS = {
  'npm start': /"start": "node (?<flags>.*) dist\/main\.js"/.exec(text('package.json')),
  'the image': /^ENTRYPOINT \["node", "(?<flags>.*)", "dist/m.exec(text('Dockerfile')),
  'the manual': /`node (?<flags>.*?) dist\/main\.js`/.exec(text('docs/operating.md')),
  'the installed command': /^#!\/usr\/bin\/env -S node (?<flags>.*)$/m.exec(text('src/cli/diptych.ts')),
};

function text(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
}

describe('the commands that start the service', () => {
  test.each(Object.entries(FLAGS))('%s gives Node the same flags as the others', (_command, found) => {
    expect(found?.groups?.flags?.replaceAll('", "', ' ')).toBe(
      '--max-semi-space-size=8 --heap-growing-percent=200',
    );
  });
});
