import { afterEach, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from '../../src/client/index.js';
import { Gate } from '../support/gate.js';
import { watching } from './watching.js';

interface Raw {
  readonly sender: string;
  readonly content: string;
}

const user = (content: string): Raw => ({ sender: 'user', content });
const agent = (content: string): Raw => ({ sender: 'agent', content });

/** A service whose messages and streams a test controls. A turn is running if there are messages. */
class Scripted {
  messages: readonly Raw[] = [];
  /** Responses with the messages wait for this. */
  reading: Promise<void> = Promise.resolve();
  readonly #streams = new Map<string, ReadableStreamDefaultController<Uint8Array>>();

  readonly fetch: typeof fetch = (input) => {
    const { pathname } = new URL(new Request(input).url);
    if (/\/(updates|chat)$/.test(pathname))
      return Promise.resolve(
        new Response(
          new ReadableStream<Uint8Array>({ start: (stream) => void this.#streams.set(pathname, stream) }),
          { headers: { 'Content-Type': 'text/event-stream' } },
        ),
      );
    const { messages } = this;
    const isBusy = messages.length > 0;
    const body = { messages, is_processing: isBusy, status: isBusy ? 'processing' : 'idle' };
    return this.reading.then(() => Response.json(body));
  };

  send(path: string, ...events: readonly object[]): void {
    for (const event of events)
      this.#streams.get(path)?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
  }
}

describe('The text that a watcher sees', () => {
  let client: Client;
  afterEach(() => {
    client.close();
  });

  function watch(surface: 'current' | 'legacy', ...messages: readonly Raw[]) {
    const service = new Scripted();
    service.messages = messages;
    client = createClient({ url: 'http://host', surface, fetch: service.fetch });
    return { service, received: watching(client) };
  }

  it('is not repeated when the stream opens during a tool call and another message waits', async () => {
    const { service, received } = watch('current', user('one'), agent('Let me see. '), user('two'));
    await received.until(() => received.of('connection').length > 0);
    const delta = { type: 'text_delta', turn_id: 't1' };
    service.send(
      '/current/api/updates',
      { type: 'turn_started', turn_id: 't1' },
      { ...delta, content: 'Let me see. ', offset: 0 },
      { ...delta, content: 'It is noon.', offset: 12 },
    );
    await received.until(() => received.views().at(-1)?.endsWith('noon.') === true);
    expect(new Set(received.views())).toEqual(new Set(['Let me see. ', 'Let me see. It is noon.']));
  });

  it('is not repeated when a state shows the end of a turn before the stream has sent its text', async () => {
    const { service, received } = watch('current');
    await received.until(() => received.of('connection').length > 0);
    const send = (...events: readonly object[]) => {
      service.send('/current/api/updates', ...events);
    };
    service.messages = [user('one')];
    send({ type: 'turn_started', turn_id: 't1' });
    await received.until(() => received.of('turn_started').length > 0);
    service.messages = [user('one'), agent('First. '), user('two'), user('three')];
    client.refresh();
    await received.until(() => received.views().at(-1) === 'First. ');
    const delta = { type: 'text_delta', turn_id: 't1' };
    send({ ...delta, content: 'Fir', offset: 0 }, { ...delta, content: 'st. ', offset: 3 });
    send({ type: 'turn_ended', turn_id: 't1', status: 'complete' });
    send({ type: 'turn_started', turn_id: 't2' });
    send({ type: 'text_delta', turn_id: 't2', content: 'Second.', offset: 0 });
    await received.until(() => received.views().at(-1)?.endsWith('Second.') === true);
    for (const view of received.views()) expect('First. Second.').toContain(view);
    expect(received.views().at(-1)).toBe('First. Second.');
  });

  it('has all of the reply to another client before that to its own message, over the legacy surface', async () => {
    const { service, received } = watch('legacy', user('theirs'));
    await received.until(() => received.of('turn_started').length > 0);
    await client.send('mine');
    const reading = new Gate();
    service.reading = reading.passed;
    service.messages = [user('theirs'), agent('First. '), user('mine'), agent('Sec')];
    const call = { type: 'tool_call', call_id: 'c1', name: 'add', args: {} };
    service.send('/legacy/api/thread/chat', { type: 'text', content: 'Second.' }, call);
    await received.until(() => received.of('tool').length > 0);
    reading.open();
    await received.until(() => received.views().at(-1)?.endsWith('Second.') === true);
    expect(new Set(received.views())).toEqual(new Set(['', 'First. Sec', 'First. Second.']));
  });

  it('is not repeated when a state shows the end of its own turn first, over the legacy surface', async () => {
    const { service, received } = watch('legacy');
    await received.until(() => received.of('connection').length > 0);
    service.messages = [user('mine')];
    await client.send('mine');
    service.messages = [user('mine'), agent('First. '), user('theirs')];
    client.refresh();
    await received.until(() => received.views().at(-1) === 'First. ');
    const text = { type: 'text', content: 'First. ' };
    service.send('/legacy/api/thread/chat', text, { type: 'complete' });
    await received.until(() => received.of('turn_ended').length > 0);
    expect(new Set(received.views())).toEqual(new Set(['', 'First. ']));
  });

  it('has no end of a turn that was sent before it watched, over the legacy surface', async () => {
    const { service, received } = watch('legacy');
    await received.until(() => received.of('connection').length > 0);
    await client.send('mine');
    service.send('/legacy/api/thread/chat', { type: 'text', content: 'First. ' });
    await received.until(() => received.of('turn_started').length > 0);
    service.messages = [user('mine'), agent('First. ')];
    const second = watching(client);
    await second.until(() => second.of('connection').length > 0 && second.of('turn_started').length > 0);
    service.messages = [];
    service.send('/legacy/api/thread/chat', { type: 'complete' });
    await received.until(() => received.of('turn_ended').length > 0);
    service.send('/legacy/api/thread/updates', { type: 'system_notice', message: 'Later' });
    await second.until(() => second.of('notice').length > 0);
    expect(second.of('turn_ended').map(({ turnId }) => turnId)).toEqual(
      second.of('turn_started').map(({ turnId }) => turnId),
    );
  });
});
