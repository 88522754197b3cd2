import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Place, type Running } from './running.js';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const UP = '\x1b[A';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

function type({ child }: Running, text: string): void {
  child.stdin?.write(text);
}

/** Resolves once a prompt has come after this. */
function prompted(chat: Running, after: RegExp): Promise<unknown> {
  return chat.says(new RegExp(`${after.source}[^]*\\x1b\\[0J> `));
}

describe('chat in a terminal', () => {
  it('interrupts on Ctrl-C, recalls with the arrow keys, also in the next chat, and leaves on Ctrl-D', async () => {
    const { url } = await place.serve({ DEMO_TOKEN_MS: '20' });
    const chat = place.startInTerminal(['chat', '--url', url]);
    await prompted(chat, /Session/);
    type(chat, 'count from 1 to 1000\r');
    await chat.says(/1 2 3 4 5/);
    type(chat, CTRL_C);
    await prompted(chat, /\(interrupted\)/);
    type(chat, '/tool get_time {}\r');
    await prompted(chat, /→ get_time \{\}[^]*← get_time [^]*UTC/);
    expect(chat.out()).toContain('\x1b[2m→ get_time {}\x1b[22m');
    type(chat, '/title\r');
    await prompted(chat, /\/title[\r\n]+/);
    type(chat, CTRL_D);
    expect(await chat.ended).toBe(0);
    expect(chat.out()).not.toContain(' 999 1000');

    const file = join(place.directory, '.local/state/diptych/history');
    expect(readFileSync(file, 'utf8')).toBe('count from 1 to 1000\n/tool get_time {}\n/title\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const next = place.startInTerminal(['chat', '--url', url], { NO_COLOR: '1' });
    await prompted(next, /Session/);
    type(next, UP + UP);
    await next.says(/\/tool get_time \{\}/);
    type(next, '\r');
    await prompted(next, /→ get_time \{\}[^]*← get_time/);
    type(next, CTRL_D);
    expect(await next.ended).toBe(0);
    expect(next.out()).not.toContain('\x1b[2m');
  });

  it('discards the line on Ctrl-C, as a shell does', async () => {
    const { url } = await place.serve();
    const chat = place.startInTerminal(['chat', '--url', url]);
    await prompted(chat, /Session/);
    type(chat, 'not this');
    await chat.says(/not this/);
    type(chat, CTRL_C);
    await prompted(chat, /[\r\n]+\S*\(Ctrl-D exits\)/);
    type(chat, '/session\r');
    await prompted(chat, /\/session[\r\n]+[^]*[\da-f-]{36}/);
    type(chat, CTRL_D);
    expect(await chat.ended).toBe(0);
    const file = join(place.directory, '.local/state/diptych/history');
    expect(readFileSync(file, 'utf8')).toBe('/session\n');
  });

  it('keeps no history when that is off, says what is refused, and begins a new session', async () => {
    const { url } = await place.serve();
    const chat = place.startInTerminal([
      'chat',
      '--url',
      url,
      '--no-history',
      '--app',
      'none',
      '--key',
      'wrong',
    ]);
    await prompted(chat, /Session/);
    type(chat, 'Hello\r');
    await prompted(chat, /! .*HTTP 401/);
    type(chat, '/new\r');
    await prompted(chat, /\/new[^]*Session [\da-f-]{36}/);
    type(chat, '/quit\r');
    expect(await chat.ended).toBe(0);
    expect(() => statSync(join(place.directory, '.local'))).toThrow('ENOENT');
  });
});
