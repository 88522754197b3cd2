import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CLI, Place } from './running.js';

const DRIVER = new URL('../../dist/adapters/stores/sqlite/driver.js', import.meta.url).href;

// Each test starts processes.
jest.setTimeout(60_000);

let place: Place;
beforeEach(async () => {
  place = new Place();
  await place.run(['keys', 'create', '--app', 'default']);
});
afterEach(() => place.clear());

/** Returns the environment of a command that runs `onRead` before it reads the whole database. */
function watching(onRead: string): Readonly<Record<string, string>> {
  const file = join(place.directory, 'watching.mjs');
  writeFileSync(
    file,
    `import { writeSync } from 'node:fs';
    import { SqliteDatabase } from '${DRIVER}';
    const { pragma } = SqliteDatabase.prototype;
    SqliteDatabase.prototype.pragma = function (source, options) {
      if (source.startsWith('quick_check')) { ${onRead} }
      return pragma.call(this, source, options);
    };
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (milliseconds) => {
      writeSync(2, 'timeout ');
      return timeout.call(AbortSignal, milliseconds);
    };`,
  );
  return { NODE_OPTIONS: `--import file://${file}` };
}

describe('reading the whole database', () => {
  it('ends before the timeouts of the other checks begin', async () => {
    const { code, err } = await place.run(['check'], { env: watching("writeSync(2, 'read ')") });
    expect({ code, err }).toEqual({ code: 0, err: 'read timeout ' });
  });

  it('can be interrupted, before a backup', async () => {
    const env = watching(
      "writeSync(2, 'reading'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
    );
    const backup = place.start(CLI, ['backup', join(place.directory, 'copy.db')], env);
    await backup.says('reading');
    backup.child.kill('SIGINT');
    expect(await backup.ended).toBe('SIGINT');
  });
});

describe('diptych backup', () => {
  it('gives the copy its name only when it is complete', async () => {
    const copy = join(place.directory, 'copy.db');
    const hook = join(place.directory, 'naming.mjs');
    writeFileSync(
      hook,
      `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      for (const name of ['link', 'rename']) {
        const call = fs.promises[name];
        fs.promises[name] = (from, to) => {
          process.stderr.write(fs.existsSync(to) ? 'named too early ' : 'named ');
          return call(from, to);
        };
      }
      syncBuiltinESMExports();`,
    );
    const backup = await place.run(['backup', copy], { env: { NODE_OPTIONS: `--import ${hook}` } });
    expect(backup).toMatchObject({ code: 0, err: 'named ' });
    expect(readdirSync(place.directory).sort()).toEqual(['copy.db', 'data', 'naming.mjs']);
  });
});
