import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createStreams } from '../src/http/sse/streams.js';
import { legacyRoutes } from '../src/surfaces/legacy/router.js';
import { Place } from './cli/running.js';
import { fakeCore } from './support/fake-core.js';

jest.setTimeout(120_000);

const DOCUMENT = readFileSync(new URL('../docs/migrating.md', import.meta.url), 'utf8');

interface Block {
  readonly language: string;
  /** `before` and `after` run; `shared` stands in front of every other one of its language. */
  readonly role: string;
  readonly code: string;
  readonly heading: string;
}

const blocks = [...DOCUMENT.matchAll(/^## (.*)$|^```(\w+) ?(\w*)\n([^]*?)^```$/gm)].reduce<Block[]>(
  (found, [, heading, language = '', role = '', code = '']) => {
    const last = found.at(-1)?.heading ?? '';
    if (heading !== undefined) return [...found, { language: '', role: '', code: '', heading }];
    return [...found, { language, role, code, heading: last }];
  },
  [],
);
const runnable = blocks.flatMap((block, index) => {
  const shown = blocks[index + 1];
  if (block.role !== 'before' && block.role !== 'after') return [];
  return [{ ...block, shown: shown?.language === 'text' ? shown.code : undefined }];
});
const shared = blocks.filter(({ role }) => role === 'shared').map(({ code }) => code);

const place = new Place();
let url = '';
let key = '';
beforeAll(async () => {
  writeFileSync(join(place.directory, 'diptych.yaml'), 'apps:\n  - name: default\n  - name: desk\n');
  const created = await place.run(['keys', 'create', '--app', 'desk']);
  key = created.out.trim();
  // Slow enough that an answer of a thousand words still runs when it is stopped.
  url = (await place.serve({ DEMO_TOKEN_MS: '20' })).url;
});
afterAll(() => place.clear());

/** Runs a block as a reader would, and returns what it printed. */
async function run({ language, code }: Block, base: string, session: string): Promise<string> {
  const given = `const url = ${JSON.stringify(base)}, session = ${JSON.stringify(session)}, key = ${JSON.stringify(key)};`;
  const child =
    language === 'sh'
      ? spawn('bash', ['--norc', '-euo', 'pipefail', '-c', code], {
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { PATH: process.env.PATH, URL: base, SESSION: session, KEY: key, WALLET: `wallet-${session}` },
        })
      : spawn(process.execPath, ['--input-type=module', '-e', [given, ...shared, code].join('\n')], {
          stdio: ['ignore', 'pipe', 'pipe'],
        });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const exit = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (exit !== 0) throw new Error(`ended with ${String(exit)}:\n${printed}`);
  return printed;
}

/** Lines in their order, with anything between them; `…` is anything too. */
function patternOf(shown: string): RegExp {
  const lines = shown.split('\n').filter((line) => line !== '');
  const escaped = lines.map((line) =>
    line.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')),
  );
  return new RegExp(escaped.map((parts) => parts.join('[^]*?')).join('[^]*?'));
}

/** Words that come while a message is being stored are one event: how a text is cut into events is nobody's promise. */
function oneWordEach(printed: string): string {
  return printed.replaceAll(/data: \{"type":"text","content":"([^"]*)"\}/g, (_, content: string) =>
    (content.match(/\s*\S+/g) ?? []).map((word) => `data: {"type":"text","content":"${word}"}`).join('\n\n'),
  );
}

/** In the order of the document, on one session, as its story goes. */
async function walk(baseOf: (role: string) => string): Promise<void> {
  const session = randomUUID();
  for (const block of runnable) {
    const printed = await run(block, baseOf(block.role), session);
    const seen = oneWordEach(`${block.heading}, ${block.role}: ${printed}`);
    expect(seen).toMatch(patternOf(block.shown ?? 'nothing'));
  }
}

describe('the guide from the legacy to the current surface', () => {
  it('shows what every block prints, and has a successor for each of them', () => {
    expect(runnable.length).toBeGreaterThan(18);
    for (const { heading, shown } of runnable) expect([heading, typeof shown]).toEqual([heading, 'string']);
    const sections = new Set(runnable.map(({ heading }) => heading));
    for (const section of sections) {
      const roles = runnable.filter(({ heading }) => heading === section).map(({ role }) => role);
      expect([section, ...new Set(roles)]).toEqual([section, 'before', 'after']);
    }
  });

  it('has code for every call of the legacy surface', () => {
    const about = { version: '1', surfaces: [] };
    const routes = legacyRoutes({ core: fakeCore({}), streams: createStreams({ keepAliveMs: 0 }), about });
    const before = runnable.filter(({ role }) => role === 'before').map(({ code }) => code);
    for (const { method, path, isLoose } of routes) {
      if (isLoose === true) continue;
      const call = new RegExp(`(\\$URL|\\$\\{url\\})${path.replace(':id', '\\$SESSION')}(?![\\w/])`);
      expect([`${method} ${path}`, before.some((code) => call.test(code))]).toEqual([
        `${method} ${path}`,
        true,
      ]);
    }
  });

  it('works where both surfaces answer', () => walk(() => url));

  it('works where each surface answers alone', () =>
    walk((role) => `${url}/${role === 'before' ? 'legacy' : 'current'}`));
});
