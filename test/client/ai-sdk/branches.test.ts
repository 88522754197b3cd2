import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DiptychChatTransport } from '../../../src/client/ai-sdk/chat-transport.js';
import { RigError } from '../../../src/core/ports/rig.js';
import { serveScripted } from '../../support/http.js';
import { TestChat, textOf } from './test-chat.js';

describe('DiptychChatTransport with branches', () => {
  let server: Awaited<ReturnType<typeof serveScripted>>;
  let transport: DiptychChatTransport;
  let id: string;
  let branches: { readonly chatId: string; readonly sessionId: string }[];

  beforeEach(async () => {
    server = await serveScripted({ surfaces: ['current'] });
    branches = [];
    transport = transportOf();
    id = randomUUID();
  });
  afterEach(() => server.close());

  function transportOf(fetch = globalThis.fetch): DiptychChatTransport {
    const onBranch = (branch: { readonly chatId: string; readonly sessionId: string }): void => {
      branches.push(branch);
    };
    return new DiptychChatTransport({ url: server.url, fetch, onBranch });
  }

  /** Answers the next request of the model. @returns the texts that the model was given */
  async function answer(words: string): Promise<readonly string[]> {
    const asked = await server.rig.next();
    asked.text(words).end();
    return asked.request.messages.map(({ content }) => content);
  }

  async function say(chat: TestChat, text: string, reply: string): Promise<void> {
    const sent = chat.sendMessage({ text });
    await answer(reply);
    await sent;
  }

  const open = async (): Promise<TestChat> => new TestChat(id, transport, await transport.loadMessages(id));
  const stored = async (sessionId: string): Promise<string> =>
    textOf(await new DiptychChatTransport({ url: server.url }).loadMessages(sessionId));
  const idOf = ({ messages }: TestChat, text: string): string =>
    messages.find((message) => textOf([message]) === text)?.id ?? `no message ${text}`;

  it('generates a reply again in a branch, in which the chat continues', async () => {
    const chat = await open();
    await say(chat, 'One.', 'First.');
    await say(chat, 'Two.', 'Second.');
    const again = chat.regenerate();
    expect(await answer('Other.')).toEqual(['One.', 'First.', 'Two.']);
    await again;
    expect(chat.error).toBeUndefined();
    expect(textOf(chat.messages)).toBe('One.First.Two.Other.');
    const sessionId = branches[0]?.sessionId ?? 'no branch';
    expect(branches).toEqual([{ chatId: id, sessionId }]);
    expect(transport.sessionIdOf(id)).toBe(sessionId);
    expect(sessionId).not.toBe(id);

    await say(chat, 'Three.', 'Third.');
    expect(await stored(id)).toBe('One.First.Two.Second.');
    expect(await stored(sessionId)).toBe('One.First.Two.Other.Three.Third.');
    expect(textOf(await transport.loadMessages(id))).toBe('One.First.Two.Other.Three.Third.');
    expect(branches).toHaveLength(1);
  });

  it('sends a changed message that was loaded, and forgets what followed it', async () => {
    await say(await open(), 'One.', 'First.');
    await say(await open(), 'Two.', 'Second.');
    transport = transportOf();
    const chat = await open();
    const changed = chat.sendMessage({ text: 'Uno.', messageId: idOf(chat, 'One.') });
    expect(await answer('Primo.')).toEqual(['Uno.']);
    await changed;
    expect(textOf(chat.messages)).toBe('Uno.Primo.');
    expect(await stored(branches[0]?.sessionId ?? '')).toBe('Uno.Primo.');
    expect(await stored(id)).toBe('One.First.Two.Second.');
  });

  it('branches again from whichever session a message was sent in', async () => {
    const chat = await open();
    await say(chat, 'One.', 'First.');
    await say(chat, 'Two.', 'Second.');
    const first = idOf(chat, 'First.');
    for (const reply of ['Other.', 'Another.']) {
      const again = chat.regenerate();
      expect(await answer(reply)).toEqual(['One.', 'First.', 'Two.']);
      await again;
    }
    expect(textOf(chat.messages)).toBe('One.First.Two.Another.');
    const again = chat.regenerate({ messageId: first });
    expect(await answer('Premier.')).toEqual(['One.']);
    await again;
    expect(textOf(chat.messages)).toBe('One.Premier.');
    expect(new Set(branches.map(({ sessionId }) => sessionId)).size).toBe(3);
    expect(await stored(branches[2]?.sessionId ?? '')).toBe('One.Premier.');
  });

  it('answers a message again whose turn was stopped, or has failed', async () => {
    const chat = await open();
    const sent = chat.sendMessage({ text: 'Count.' });
    const asked = await server.rig.next();
    asked.text('one');
    await chat.shows('one');
    const stopped = chat.stop();
    const again = chat.regenerate();
    await Promise.all([sent, stopped]);
    const failing = await server.rig.next();
    failing.fail(new RigError('no credit left', { retryable: false }));
    await again;
    expect(chat.status).toBe('error');
    const last = chat.regenerate();
    expect(await answer('Done.')).toEqual(['Count.']);
    await last;
    expect(chat.status).toBe('ready');
    expect(textOf(chat.messages)).toBe('Count.Done.');
    expect(branches).toHaveLength(2);
  });

  it('answers a message again whose turn has failed before a reload', async () => {
    const sent = (await open()).sendMessage({ text: 'Count.' });
    (await server.rig.next()).fail(new RigError('no credit left', { retryable: false }));
    await sent;
    transport = transportOf();
    const chat = await open();
    const again = chat.regenerate();
    expect(await answer('Done.')).toEqual(['Count.']);
    await again;
    expect(textOf(chat.messages.slice(-1))).toBe('Done.');
  });

  it('finds a message behind a thousand later ones', async () => {
    // A page of two messages stands for one of a thousand.
    transport = transportOf((input, init) =>
      fetch(new Request(input, init).url.replace('limit=1000', 'limit=2'), init),
    );
    const chat = new TestChat(id, transport);
    await say(chat, 'One.', 'First.');
    await say(chat, 'Two.', 'Second.');
    await say(chat, 'Three.', 'Third.');
    const again = chat.regenerate({ messageId: idOf(chat, 'First.') });
    expect(await answer('Premier.')).toEqual(['One.']);
    await again;
    expect(textOf(chat.messages)).toBe('One.Premier.');
  });

  it('stays where it is when the branch is refused', async () => {
    const chat = await open();
    await say(chat, 'One.', 'First.');
    await fetch(`${server.url}/api/sessions/${id}`, { method: 'DELETE' });
    await chat.regenerate();
    expect(chat.error).toMatchObject({ kind: 'refused' });
    expect(branches).toEqual([]);
    expect(transport.sessionIdOf(id)).toBe(id);
  });

  it('sends nothing when it is stopped before the branch is there', async () => {
    let branched: () => void = () => undefined;
    let release: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (branched = resolve));
    const held = new Promise<void>((resolve) => (release = resolve));
    transport = transportOf(async (input, init) => {
      if (!new Request(input, init).url.endsWith('/branch')) return fetch(input, init);
      branched();
      await held;
      return fetch(input, init);
    });
    const chat = await open();
    await say(chat, 'One.', 'First.');
    const again = chat.regenerate();
    await asked;
    const stopped = chat.stop();
    release();
    await Promise.all([again, stopped]);
    expect(server.rig.asked).toHaveLength(1);
    expect(await stored(branches[0]?.sessionId ?? '')).toBe('');
    expect(textOf(chat.messages)).toBe('One.');
    const once = chat.regenerate();
    expect(await answer('Again.')).toEqual(['One.']);
    await once;
    expect(textOf(chat.messages)).toBe('One.Again.');
  });
});
