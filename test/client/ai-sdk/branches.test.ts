import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DiptychChatTransport } from '../../../src/client/ai-sdk/chat-transport.js';
import { RigError } from '../../../src/core/ports/rig.js';
import { serveScripted } from '../../support/http.js';
import { type Fault, faultyFetch, HeldFetch } from './changed-fetch.js';
import { type TestChat, testChat, textOf } from './test-chat.js';

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

  /** Makes the transport wait at its requests to a path. */
  function held(path: string): HeldFetch {
    const gate = new HeldFetch(path);
    transport = transportOf(gate.fetch);
    return gate;
  }

  /** Makes the transport receive other responses to its next messages. */
  function faulty(...faults: Fault[]): void {
    transport = transportOf(faultyFetch(faults));
  }

  /** Regenerates the last reply. @param asked the texts that the model is expected to get */
  async function regenerated(chat: TestChat, asked: readonly string[], reply: string): Promise<void> {
    const again = chat.regenerate();
    expect(await answer(reply)).toEqual(asked);
    await again;
  }

  const open = async (): Promise<TestChat> => testChat(id, transport, await transport.loadMessages(id));
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

  it('regenerates the reply to a message whose turn was stopped, or has failed', async () => {
    const chat = await open();
    const sent = chat.sendMessage({ text: 'Count.' });
    const asked = await server.rig.next();
    asked.text('one');
    await chat.shows('one');
    const stopped = transport.interrupt(id);
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

  it('regenerates the reply to a message whose turn has failed before a reload', async () => {
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
    const chat = testChat(id, transport);
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

  it('sends nothing and stays in its session when it is stopped before the branch is created', async () => {
    const gate = held('/branch');
    const chat = await open();
    await say(chat, 'One.', 'First.');
    gate.hold();
    const again = chat.regenerate();
    await gate.reached;
    const stopped = chat.stop();
    gate.release();
    await Promise.all([again, stopped]);
    expect(server.rig.asked).toHaveLength(1);
    expect(branches).toEqual([]);
    expect(transport.sessionIdOf(id)).toBe(id);
    expect(textOf(await transport.loadMessages(id))).toBe('One.First.');
    expect(textOf(chat.messages)).toBe('One.');
    const once = chat.regenerate();
    expect(await answer('Again.')).toEqual(['One.']);
    await once;
    expect(textOf(chat.messages)).toBe('One.Again.');
  });

  it('keeps the session of loaded messages when the chat moves to a branch during the load', async () => {
    const first = await open();
    await say(first, 'One.', 'First.');
    const gate = held('/messages?limit=1000');
    const chat = await open();
    gate.hold();
    const loading = transport.loadMessages(id);
    await gate.reached;
    await regenerated(chat, ['One.'], 'Other.');
    gate.release();
    await loading;
    await regenerated(chat, ['One.'], 'Another.');
    expect(chat.error).toBeUndefined();
    expect(textOf(chat.messages)).toBe('One.Another.');
    expect(branches).toHaveLength(2);
  });

  it.each([
    ['regenerate', (chat: TestChat) => chat.regenerate()],
    ['sendMessage without arguments', (chat: TestChat) => chat.sendMessage()],
  ])('sends a message that was refused once more in its session with %s', async (_, retry) => {
    faulty('refused', 'refused');
    const chat = await open();
    await chat.sendMessage({ text: 'One.' });
    expect(chat.error).toMatchObject({ status: 503 });
    await retry(chat);
    expect(chat.error).toMatchObject({ status: 503 });
    const again = retry(chat);
    await answer('First.');
    await again;
    expect(await stored(id)).toBe('One.First.');
    expect(textOf(chat.messages)).toBe('One.First.');
    expect(branches).toEqual([]);
    await regenerated(chat, ['One.'], 'Other.');
    expect(branches).toHaveLength(1);
  });

  it('does not send a message twice whose response was lost, and shows its reply', async () => {
    faulty('lost', 'lost');
    const chat = await open();
    await chat.sendMessage({ text: 'One.' });
    expect(chat.error).toMatchObject({ status: 503 });
    await answer('First.');
    await chat.regenerate();
    expect(chat.error).toMatchObject({ status: 503 });
    await chat.regenerate();
    expect(chat.error).toBeUndefined();
    expect(textOf(chat.messages)).toBe('One.First.');
    await say(chat, 'One.', 'Second.');
    expect(await stored(id)).toBe('One.First.One.Second.');
    expect(server.rig.asked).toHaveLength(2);
    expect(branches).toEqual([]);
  });

  it('sends a changed version of a message whose response was lost', async () => {
    faulty('lost');
    const chat = await open();
    await chat.sendMessage({ text: 'One.' });
    await answer('First.');
    const changed = chat.sendMessage({ text: 'Uno.', messageId: idOf(chat, 'One.') });
    expect(await answer('Primo.')).toEqual(['One.', 'First.', 'Uno.']);
    await changed;
    expect(textOf(chat.messages)).toBe('Uno.Primo.');
  });

  it('sends a changed version of a refused message in the branch that the chat is in', async () => {
    await say(await open(), 'One.', 'First.');
    await say(await open(), 'Two.', 'Second.');
    faulty('refused');
    const chat = await open();
    await chat.regenerate();
    expect(chat.error).toMatchObject({ status: 503 });
    const changed = chat.sendMessage({ text: 'Zwei.', messageId: idOf(chat, 'Two.') });
    expect(await answer('Zweite.')).toEqual(['One.', 'First.', 'Zwei.']);
    await changed;
    expect(branches).toHaveLength(1);
    expect(await stored(branches[0]?.sessionId ?? '')).toBe('One.First.Zwei.Zweite.');
  });

  it('branches before the next accepted message when a refused one is changed later', async () => {
    faulty('refused');
    const chat = await open();
    await chat.sendMessage({ text: 'One.' });
    await say(chat, 'Two.', 'Second.');
    const changed = chat.sendMessage({ text: 'Uno.', messageId: idOf(chat, 'One.') });
    expect(await answer('Primo.')).toEqual(['Uno.']);
    await changed;
    expect(textOf(chat.messages)).toBe('Uno.Primo.');
    expect(branches).toHaveLength(1);
    expect(await stored(id)).toBe('Two.Second.');
  });

  it('does not send an accepted message twice when a proxy has removed the id of its turn', async () => {
    faulty('no turn id');
    const chat = await open();
    await say(chat, 'One.', 'First.');
    await chat.regenerate();
    expect(chat.error?.message).toMatch(/pass what its loadMessages returns/);
    expect(await stored(id)).toBe('One.First.');
  });

  it('sends a message that was stopped before it was sent', async () => {
    const gate = held('/interrupt');
    const chat = await open();
    const sent = chat.sendMessage({ text: 'Count.' });
    (await server.rig.next()).text('one');
    await chat.shows('one');
    gate.hold();
    const stopped = transport.interrupt(id);
    await Promise.all([sent, gate.reached]);
    const second = chat.sendMessage({ text: 'Two.' });
    await chat.until((messages) => textOf(messages).endsWith('Two.'));
    const stoppedAgain = transport.interrupt(id);
    gate.release();
    await Promise.all([stopped, second, stoppedAgain]);
    await regenerated(chat, ['Count.', 'one', 'Two.'], 'Second.');
    expect(chat.error).toBeUndefined();
    expect(branches).toEqual([]);
  });
});
