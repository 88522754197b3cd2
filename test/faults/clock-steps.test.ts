import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Place } from '../cli/running.js';

// Each test starts processes, and waits for leases of 6 seconds.
jest.setTimeout(120_000);

const HOUR_MS = 3_600_000;

/**
 * Shifts `Date` in a process and its threads by the milliseconds that a file holds at each reading. The steady clock
 * stays as it is.
 */
const SHIFTED_DATE = `
  import { readFileSync } from 'node:fs';
  const RealDate = Date;
  const now = () => RealDate.now() + Number(readFileSync(process.env.CLOCK_OFFSET_FILE, 'utf8'));
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      super(...(args.length === 0 ? [now()] : args));
    }
    static now() {
      return now();
    }
  };
`;

let place: Place;
let offsetFile: string;
let preloaded: string;

beforeEach(() => {
  place = new Place();
  offsetFile = join(place.directory, 'clock-offset');
  setClock(0);
  preloaded = join(place.directory, 'shifted-date.mjs');
  writeFileSync(preloaded, SHIFTED_DATE);
});
afterEach(() => place.clear());

/** Sets the wall clock of all processes of the place, by so much from the real time. */
function setClock(milliseconds: number): void {
  writeFileSync(offsetFile, String(milliseconds));
}

/** Starts a service on the file of the place, whose model takes its time. */
async function serve() {
  const { running, url } = await place.serve({
    NODE_OPTIONS: `--import ${pathToFileURL(preloaded).href}`,
    CLOCK_OFFSET_FILE: offsetFile,
    DEMO_TOKEN_MS: '100',
  });
  const ask = (method: string, path: string, session: string): Promise<Response> =>
    fetch(url + path, { method, headers: { 'X-Session-Id': session } });
  return { running, url, ask };
}

const LONG_TURN = `/api/chat?message=${encodeURIComponent('count from 1 to 1000')}`;
const TOOK_OVER = '"msg":"took over abandoned turns"';

describe('services on one SQLite file whose wall clock is set', () => {
  it('take over the turn of a killed one, at once in its successor', async () => {
    const [killed, other] = [await serve(), await serve()];
    await killed.ask('POST', LONG_TURN, randomUUID());
    setClock(-HOUR_MS);
    killed.running.child.kill('SIGKILL');
    await other.running.says(TOOK_OVER);
    setClock(-2 * HOUR_MS);
    other.running.child.kill('SIGKILL');
    await other.running.ended;
    const successor = await serve();
    // Before it listens: at its first look.
    expect(successor.running.out()).toContain(TOOK_OVER);
  });

  it('show within seconds what another one has changed', async () => {
    const [stale, other] = [await serve(), await serve()];
    const session = randomUUID();
    await other.ask('POST', '/api/sessions', session);
    expect((await stale.ask('GET', `/api/sessions/${session}`, session)).status).toBe(200);
    setClock(-HOUR_MS);
    await other.ask('DELETE', `/api/sessions/${session}`, session);
    while ((await stale.ask('GET', `/api/sessions/${session}`, session)).status !== 404) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
});
