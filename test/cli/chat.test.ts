import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { freePort } from '../support/server-process.js';
import { CLI, Place, UNREAD } from './running.js';

const SESSION = '6f1ff4a2-1f0a-4a53-9a3c-0a1f5f9a2001';
const NUMBERS = Array.from({ length: 200 }, (_, index) => String(index + 1));

// Each test starts processes; a lost lease alone takes 6 seconds.
jest.setTimeout(60_000);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

function numbersIn(text: string): string[] {
  return text.match(/\d+/g) ?? [];
}

describe.each(['current', 'legacy'] as const)('chat over the %s surface', (surface) => {
  const flags = (url: string): string[] => ['chat', '--url', url, '--surface', surface, '--session', SESSION];

  it('answers each line, shows tools beside it, and keeps the session', async () => {
    const { url } = await place.serve();
    const input = 'remember the number 42\n\n/tool get_time {}\nwhat number did I ask you to remember?\n';
    const { code, out, err } = await place.run(flags(url), { input });
    expect(code).toBe(0);
    expect(out.trim().split('\n')).toHaveLength(3);
    expect(out.trim().split('\n')[2]).toContain('42');
    expect(err).toMatch(/→ get_time.*\n← get_time .*UTC/);
    const again = await place.run(flags(url), { input: 'what number did I ask you to remember?' });
    expect(again.out).toContain('42');
  });

  it('is counted by its own name', async () => {
    const { url, running } = await place.serve();
    await place.run(flags(url), { input: 'hi\n' });
    // The counts are stored at the latest at the end.
    running.child.kill('SIGTERM');
    await running.ended;
    const report = await place.run(['legacy', 'report']);
    expect(report.out.includes('it was diptych-chat')).toBe(surface === 'legacy');
  });

  it('prints each word once', async () => {
    const { url } = await place.serve({ DEMO_TOKEN_MS: '1' });
    const { out } = await place.run(flags(url), { input: 'count from 1 to 200\n' });
    expect(numbersIn(out)).toEqual(NUMBERS);
  });

  it('interrupts on Ctrl-C and goes on with the next line', async () => {
    const { url } = await place.serve({ DEMO_TOKEN_MS: '20' });
    const chat = place.start(CLI, flags(url));
    chat.child.stdin?.write('count from 1 to 1000\n');
    await chat.says(/\b5\b/);
    chat.child.kill('SIGINT');
    chat.child.stdin?.end('remember the number 7777\n');
    expect(await chat.ended).toBe(0);
    expect(numbersIn(chat.out())).not.toContain('1000');
    expect(chat.out()).toMatch(/\n.*7777/);
    const state: unknown = await (
      await fetch(`${url}/api/state`, { headers: { 'X-Session-Id': SESSION } })
    ).json();
    expect(state).toMatchObject({ is_processing: false });
  });

  it('leaves on Ctrl-C when nothing is under way', async () => {
    const { url } = await place.serve();
    const chat = place.start(CLI, flags(url));
    chat.child.stdin?.write('remember the number 7\n');
    await chat.says(/7.*\n/);
    chat.child.kill('SIGINT');
    expect(await chat.ended).toBe(130);
  });

  it('ends when nobody reads the replies, without sending the lines that follow', async () => {
    const { url } = await place.serve();
    const input = 'remember the number 7\nremember the number 8\n';
    const chat = await place.runAfter(UNREAD, flags(url), { input });
    expect(chat).toEqual({ code: 0, out: '', err: '' });
    const { out } = await place.run(['sessions', 'show', SESSION]);
    expect(out).toContain('remember the number 7');
    expect(out).not.toContain('remember the number 8');
  });

  it('fails when the replies cannot be written', async () => {
    const { url } = await place.serve();
    const chat = await place.runAfter('exec >/dev/full', flags(url), { input: 'hi\nhello\n' });
    const err = 'diptych: cannot write the output: no space left on device\n';
    expect(chat).toEqual({ code: 1, out: '', err });
  });

  it('comes back by itself after the service was killed', async () => {
    const first = await place.serve({ DEMO_TOKEN_MS: '10' });
    const { port } = new URL(first.url);
    const chat = place.start(CLI, flags(first.url));
    chat.child.stdin?.end('count from 1 to 200\n');
    await chat.says(/\b30\b/);
    first.running.child.kill('SIGKILL');
    await first.running.ended;
    await place.serve({ PORT: port });
    expect(await chat.ended).toBe(0);
    // The unfinished step is generated again: what is shown ends with the whole answer.
    expect(numbersIn(chat.out()).slice(-NUMBERS.length)).toEqual(NUMBERS);
  });

  it('uses the App key, and says why it is refused', async () => {
    writeFileSync(join(place.directory, 'diptych.yaml'), 'apps: [{ name: coin }]');
    const { url } = await place.serve();
    const args = [...flags(url), '--app', 'coin'];
    const unset = 'diptych: --app coin needs the key of the App: set DIPTYCH_APP_KEY\n';
    expect(await place.run(args, { input: 'Hello\n' })).toEqual({ code: 2, out: '', err: unset });
    const wrong = { DIPTYCH_APP_KEY: 'none' };
    const refused = await place.run(args, { input: 'Hello\n', env: wrong });
    expect(refused).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^diptych: .*key.*\(HTTP 401\)\n$/),
    });
    const { out: key } = await place.run(['keys', 'create', '--app', 'coin']);
    const env = { DIPTYCH_APP_KEY: key.trim() };
    expect(await place.run(args, { input: 'Hello\n', env })).toMatchObject({ code: 0, err: '' });
  });

  it('fails at once when nobody is there, and says why', async () => {
    const address = `127.0.0.1:${String(await freePort())}`;
    const { code, err } = await place.run(flags(`http://${address}`), { input: 'Hello\n' });
    expect({ code, err }).toEqual({
      code: 1,
      err: `diptych: The service at http://${address} cannot be reached: connect ECONNREFUSED ${address}\n`,
    });
    const { url } = await place.serve();
    const encrypted = await place.run(flags(url.replace('http:', 'https:')), { input: 'Hello\n' });
    expect(encrypted.err).toMatch(/^diptych: The service at https:\S+ cannot be reached: .*SSL.*\n$/);
  });

  it('shows why an answer failed, and ends with 1', async () => {
    writeFileSync(
      join(place.directory, 'diptych.yaml'),
      "rigs: [{ id: away, provider: openai-compatible, baseUrl: 'http://127.0.0.1:9/v1' }]",
    );
    const { url } = await place.serve({ TURN_TIMEOUT: '1' });
    const { code, err } = await place.run(flags(url), { input: 'Hello\n' });
    expect(code).toBe(1);
    expect(err).toMatch(/^! .+\n$/);
  });
});

describe('chat', () => {
  it.each([
    ['0x12', /takes an address: 0x and 40 hex digits/],
    [`0x${'5e'.repeat(20)}0`, /takes an address/],
    ['0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266', /wrong checksum/],
  ])('refuses the mistyped wallet %s', async (wallet, why) => {
    const { code, out, err } = await place.run(['chat', '--url', 'http://127.0.0.1:9', '--wallet', wallet]);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(why) });
  });

  it.each(['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', `0x${'5e'.repeat(20)}`, 'sol:9xQeWvG8', 'alice'])(
    'takes the wallet %s',
    async (wallet) => {
      const { url } = await place.serve();
      const args = ['chat', '--url', url, '--session', SESSION, '--wallet', wallet];
      expect(await place.run(args, { input: 'remember the number 7\n' })).toMatchObject({ code: 0, err: '' });
    },
  );
});
