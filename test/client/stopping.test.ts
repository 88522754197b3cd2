import { afterEach, describe, expect, it } from '@jest/globals';
import { createClient, type Client, type SessionEvent } from '../../src/client/index.js';
import { watching } from './watching.js';

const EVENTS = { headers: { 'Content-Type': 'text/event-stream' } };

/** A stream that sends events at once, and then stays open. */
function stream(...events: readonly object[]): Response {
  const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    controller.enqueue(new TextEncoder().encode(`:\n\n${frames}`));
  };
  return new Response(new ReadableStream({ start }), EVENTS);
}

/** A service with an empty session. @param open responds to a request for a stream */
function service(open: (path: string) => Response): typeof fetch {
  return (input) => {
    const { pathname } = new URL(new Request(input).url);
    const isStream = /\/(updates|thread\/chat)$/.test(pathname);
    return Promise.resolve(
      isStream ? open(pathname) : Response.json({ messages: [] }, { headers: { 'X-Turn-Id': 't' } }),
    );
  };
}

describe.each(['current', 'legacy'] as const)('Over the %s surface,', (surface) => {
  let client: Client;
  afterEach(() => {
    client.close();
  });

  function open(onStream: (path: string) => Response): void {
    client = createClient({ url: 'http://host', surface, fetch: service(onStream) });
  }

  it('a watcher that has stopped gets no event that was queued', async () => {
    const notices = ['1', '2', '3'].map((message) => ({ type: 'system_notice', message }));
    open(() => stream(...notices));
    const stop = new AbortController();
    const events: SessionEvent[] = [];
    for await (const event of client.watch(stop.signal)) {
      events.push(event);
      if (event.type === 'notice') stop.abort();
    }
    expect(events.filter(({ type }) => type === 'notice')).toHaveLength(1);
  });

  it('a question that was aborted yields no event that was queued', async () => {
    const texts = ['1', '2', '3'];
    open(() =>
      surface === 'legacy'
        ? stream(...texts.map((content) => ({ type: 'text', content })))
        : stream(
            { type: 'turn_started', turn_id: 't' },
            ...texts.map((content) => ({ type: 'text_delta', turn_id: 't', content })),
          ),
    );
    const stop = new AbortController();
    const events: SessionEvent[] = [];
    const asked = async () => {
      for await (const event of client.ask('Hello', { signal: stop.signal })) {
        events.push(event);
        if (event.type === 'text') stop.abort(new Error('enough'));
      }
    };
    await expect(asked()).rejects.toThrow('enough');
    expect(events.filter(({ type }) => type === 'text')).toHaveLength(1);
  });
});

describe('refresh', () => {
  it('ends a long pause that the service has asked for', async () => {
    let streams = 0;
    const busy = { status: 503, headers: { 'Retry-After': '3600' } };
    const fetch = service(() => (streams++ === 0 ? Response.json({ error: 'busy' }, busy) : stream()));
    const client = createClient({ url: 'http://host', fetch });
    const received = watching(client);
    await received.until(() => received.of('connection').some(({ state }) => state === 'lost'));
    client.refresh();
    await received.until(() => received.of('connection').some(({ state }) => state === 'open'));
    client.close();
    await received.ended;
    expect(streams).toBe(2);
  });
});
