import { afterEach, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from '../../src/client/index.js';
import { watching } from './watching.js';

const frame = (data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

describe('The cursor of a watcher', () => {
  let client: Client | undefined;
  afterEach(() => client?.close());

  it.each<[string, string]>([
    ['a gap without its bounds', frame({ type: 'gap' })],
    ['a gap whose bounds are text', frame({ type: 'gap', from: 'x', to: 'y' })],
    ['an id that is not a number', frame({ type: 'system_notice', message: 'Hi' }, 'x')],
  ])('stays a number after %s', async (_name, odd) => {
    const cursors: (string | null)[] = [];
    let reads = 0;
    const fetch: typeof globalThis.fetch = (input, init) => {
      const { pathname } = new URL(new Request(input).url);
      if (pathname.endsWith('/state')) {
        const headers = { 'X-Event-Cursor': String(4 + reads++) };
        return Promise.resolve(Response.json({ title: String(reads), messages: [] }, { headers }));
      }
      cursors.push(new Headers(init?.headers).get('last-event-id'));
      const body = cursors.length === 1 ? odd : new ReadableStream<Uint8Array>();
      return Promise.resolve(new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }));
    };
    client = createClient({ url: 'http://host', fetch });
    const received = watching(client);
    await received.until(() => received.of('connection').filter(({ state }) => state === 'open').length > 1);
    expect(cursors).toEqual(cursors.map(() => expect.stringMatching(/^\d+$/)));
    client.refresh();
    await received.until(() => received.of('state').at(-1)?.state.title === String(reads));
  });
});
