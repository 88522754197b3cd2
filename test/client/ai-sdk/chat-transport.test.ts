import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import { DiptychChatTransport } from '../../../src/client/ai-sdk/chat-transport.js';
import { ClientError, createClient, type Client } from '../../../src/client/index.js';
import { RigError } from '../../../src/core/ports/rig.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { Gate } from '../../support/gate.js';
import { serveScripted } from '../../support/http.js';
import { getTime, stumble } from '../../support/tools.js';
import { Network, watching } from '../watching.js';
import { partsOf } from './chunks.js';
import { resumeTwice, type TestChat, testChat, textOf, VERSIONS } from './test-chat.js';

const question = (text: string): UIMessage => ({ id: 'q', role: 'user', parts: [{ type: 'text', text }] });

describe.each(VERSIONS)('DiptychChatTransport with version %s of the AI SDK', (version) => {
  let server: Awaited<ReturnType<typeof serveScripted>>;
  let transport: DiptychChatTransport;
  let network: Network;
  let id: string;
  let other: Client;
  let bell: Gate;

  beforeEach(async () => {
    bell = new Gate();
    const ring: Tool = {
      ...{ ...getTime, name: 'ring' },
      run: async () => {
        await bell.passed;
        return 'ding';
      },
    };
    server = await serveScripted({ surfaces: ['current'], tools: [getTime, stumble, ring] });
    network = new Network();
    transport = new DiptychChatTransport({ url: server.url, fetch: network.fetch });
    id = randomUUID();
    other = createClient({ url: server.url, sessionId: id });
  });
  afterEach(async () => {
    bell.open();
    other.close();
    await server.close();
  });

  const open = async (): Promise<TestChat> =>
    testChat(id, transport, await transport.loadMessages(id), version);
  const repliesOf = ({ messages }: TestChat): UIMessage[] =>
    messages.filter(({ role }) => role === 'assistant');

  it('streams a reply with its tool calls', async () => {
    const chat = await open();
    const sent = chat.sendMessage({ text: 'What time is it?' });
    const first = await server.rig.next();
    first.text('Let me ', 'see. ').call('c1', 'get_time', { zone: 'UTC' }).call('c2', 'stumble').end();
    (await server.rig.next()).text('It is ', 'noon.').end();
    await sent;
    expect(chat.status).toBe('ready');
    const [reply] = repliesOf(chat);
    expect(new Set(partsOf(reply))).toEqual(
      new Set([
        'Let me see. ',
        'get_time({"zone":"UTC"}) → {"time":"12:00","zone":"UTC"}',
        expect.stringContaining('stumble({}) → '),
        'It is noon.',
      ]),
    );
    const stored = await transport.loadMessages(id);
    expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(partsOf(stored[1])[0]).toBe('Let me see. ');
    expect(new Set(partsOf(stored[1]))).toEqual(new Set(partsOf(reply)));
  });

  it('loads messages of the type of its chats', async () => {
    type Rated = UIMessage<{ readonly rating: number }>;
    const rated = new DiptychChatTransport<Rated>({ url: server.url });
    const stored: Rated[] = await rated.loadMessages(id);
    expect(stored).toEqual([]);
  });

  it('loads a chat whose messages are too long for one page', async () => {
    const chat = await open();
    for (const text of ['One', 'Two', 'Three']) {
      const sent = chat.sendMessage({ text });
      (await server.rig.next()).text('x'.repeat(600_000)).end();
      await sent;
    }
    const stored = await transport.loadMessages(id);
    expect(stored.map(({ role }) => role)).toEqual(Array(3).fill(['user', 'assistant']).flat());
  });

  it('sends one message however often the connection is lost', async () => {
    const chat = await open();
    const sent = chat.sendMessage({ text: 'Count' });
    const asked = await server.rig.next();
    asked.text('one ');
    await chat.shows('one ');
    network.cut();
    asked.text('two ');
    await chat.shows('two ');
    network.cut();
    asked.text('three').end();
    await sent;
    expect(repliesOf(chat).map(partsOf)).toEqual([['one two three']]);
    expect(server.rig.asked).toHaveLength(1);
  });

  it('shows all of a reply that ended while the connection was lost, where the message had half an emoji', async () => {
    const chat = await open();
    const sent = chat.sendMessage({ text: 'Count \uD83D' });
    const asked = await server.rig.next();
    asked.text('one ');
    await chat.shows('one ');
    network.isDown = true;
    network.cut();
    asked.text('two').end();
    const received = watching(other);
    await received.until(() => received.of('state').at(-1)?.state.status === 'idle');
    received.stop();
    network.isDown = false;
    await sent;
    expect(repliesOf(chat).map(partsOf)).toEqual([['one two']]);
  });

  describe('resumes after a reload', () => {
    /** Loads the chat again and resumes it, twice as in React's strict mode. */
    async function reload(): Promise<{ chat: TestChat; resumed: Promise<unknown> }> {
      const chat = await open();
      return { chat, resumed: resumeTwice(chat, version) };
    }

    /** Resolves when no turn of the session is running. */
    async function idle(): Promise<void> {
      const received = watching(other);
      await received.until(() => received.of('state').at(-1)?.state.status === 'idle');
      received.stop();
    }

    it('with each character and call once, wherever the page was reloaded', async () => {
      await other.send('What time is it?');
      const pages: { chat: TestChat; resumed: Promise<unknown> }[] = [await reload()];
      const first = await server.rig.next();
      first.text('Let me ');
      pages.push(await reload());
      await pages[1]?.chat.shows('Let me ');
      first.text('see. ').call('c1', 'get_time', { zone: 'UTC' }).call('c2', 'ring').end();
      pages.push(await reload());
      await pages[1]?.chat.until((messages) => JSON.stringify(messages).includes('12:00'));
      pages.push(await reload());
      await pages[3]?.chat.until((messages) => JSON.stringify(messages).includes('12:00'));
      bell.open();
      const second = await server.rig.next();
      pages.push(await reload());
      second.text('It is ');
      pages.push(await reload());
      await pages[5]?.chat.shows('It is ');
      second.text('noon.').end();
      await Promise.all(pages.map(({ resumed }) => resumed));
      for (const { chat } of pages) {
        expect(repliesOf(chat).map(partsOf)).toEqual([
          [
            'Let me see. ',
            'get_time({"zone":"UTC"}) → {"time":"12:00","zone":"UTC"}',
            'ring({}) → "ding"',
            'It is noon.',
          ],
        ]);
        expect(chat.status).toBe('ready');
      }
    });

    it('with the reply of a turn that ended between the load and the resume', async () => {
      await other.send('Count');
      const asked = await server.rig.next();
      asked.text('one ');
      const chat = await open();
      const received = watching(other);
      await received.until(() => received.of('turn_started').length > 0);
      asked.text('two').end();
      await received.until(() => received.of('turn_ended').length > 0);
      received.stop();
      await resumeTwice(chat, version);
      expect(repliesOf(chat).map(partsOf)).toEqual([['one two']]);
      await expect(transport.reconnectToStream({ chatId: id })).resolves.toBeNull();
    });

    it('with nothing when no turn is running', async () => {
      await expect(transport.reconnectToStream({ chatId: id })).resolves.toBeNull();
    });

    it('and leaves out messages that wait, with the same text, too', async () => {
      await other.send('one');
      const asked = await server.rig.next();
      await other.send('one');
      await other.send('two');
      asked.text('Let me see. ').call('c1', 'get_time', { zone: 'UTC' }).end();
      const second = await server.rig.next();
      const { chat, resumed } = await reload();
      await chat.until((messages) => JSON.stringify(messages).includes('12:00'));
      second.text('1').end();
      for (const text of ['1', '2']) (await server.rig.next()).text(text).end();
      await resumed;
      expect(chat.messages.map(partsOf)).toEqual([
        ['one'],
        ['Let me see. ', 'get_time({"zone":"UTC"}) → {"time":"12:00","zone":"UTC"}', '1'],
      ]);
    });

    it('with the reply that is running, behind a message that was cancelled while it waited', async () => {
      await other.send('one');
      const asked = await server.rig.next();
      asked.text('Let me see. ').call('c1', 'get_time', { zone: 'UTC' }).end();
      const second = await server.rig.next();
      await other.send('two');
      await Promise.all([other.interrupt(), second.left]);
      await other.send('three');
      const third = await server.rig.next();
      const { chat, resumed } = await reload();
      expect(chat.messages.map(partsOf).slice(2)).toEqual([['two'], ['three']]);
      third.text('Let us ');
      await chat.shows('Let us ');
      third.text('go.').end();
      await resumed;
      expect(chat.messages.map(partsOf).slice(2)).toEqual([['two'], ['three'], ['Let us go.']]);
      expect(textOf(await transport.loadMessages(id))).toBe(textOf(chat.messages));
    });

    it('with the next reply, after a message that was cancelled before its reply began', async () => {
      await other.send('one');
      const asked = await server.rig.next();
      await Promise.all([other.interrupt(), asked.left]);
      await other.send('two');
      const second = await server.rig.next();
      const { chat, resumed } = await reload();
      expect(chat.messages.map(partsOf)).toEqual([['one'], ['two']]);
      second.text('2');
      await chat.shows('2');
      second.end();
      await resumed;
      expect(chat.messages.map(partsOf)).toEqual([['one'], ['two'], ['2']]);
    });

    it('with each part once, if the same chat resumes after the turn has ended', async () => {
      await other.send('Count');
      const asked = await server.rig.next();
      asked.text('one ');
      const chat = await open();
      const first = chat.resumeStream();
      await chat.shows('one ');
      await Promise.all([chat.stop(), first]);
      asked.text('two').end();
      await idle();
      await resumeTwice(chat, version);
      expect(repliesOf(chat).map(partsOf)).toEqual([['one two']]);
    });

    it.each([
      ['has a reply', false],
      ['was cancelled', true],
    ])('with the end of a turn that %s, while the next one is running', async (_, isCancelled) => {
      await other.send('one');
      const asked = await server.rig.next();
      const chat = await open();
      if (isCancelled) await Promise.all([other.interrupt(), asked.left]);
      else asked.text('1').end();
      await other.send('two');
      const second = await server.rig.next();
      await resumeTwice(chat, version);
      expect(textOf(chat.messages)).toBe(isCancelled ? 'one' : 'one1');
      expect(chat.status).toBe('ready');
      second.text('2').end();
    });

    it('although the connection is lost while the stored steps are read', async () => {
      let losing = 0;
      const lossy: typeof fetch = (input, init) => {
        const isLost = losing > 0 && new Request(input, init).url.includes('/messages');
        return isLost && losing-- > 0
          ? Promise.reject(new TypeError('connection reset'))
          : fetch(input, init);
      };
      transport = new DiptychChatTransport({ url: server.url, fetch: lossy });
      await other.send('Count');
      const asked = await server.rig.next();
      asked.text('one ');
      const chat = await open();
      losing = 1;
      const resumed = chat.resumeStream();
      await Promise.race([chat.shows('one '), resumed]);
      asked.text('two').end();
      await resumed;
      expect(repliesOf(chat).map(partsOf)).toEqual([['one two']]);
      expect(losing).toBe(0);
    });

    it('with the rest of a reply to its own message that it stopped reading', async () => {
      const chat = await open();
      const sent = chat.sendMessage({ text: 'Count' });
      const asked = await server.rig.next();
      asked.text('one ');
      await chat.shows('one ');
      await Promise.all([chat.stop(), sent]);
      asked.text('two').end();
      await idle();
      await resumeTwice(chat, version);
      expect(repliesOf(chat).map(partsOf)).toEqual([['one two']]);
      await expect(transport.reconnectToStream({ chatId: id })).resolves.toBeNull();
    });

    it('with one request each for the state and the history', async () => {
      const paths: string[] = [];
      transport = new DiptychChatTransport({
        url: server.url,
        onExchange: ({ url }) => paths.push(new URL(url).pathname.replace(/^.*\//, '')),
      });
      await other.send('Count');
      await transport.loadMessages(id);
      expect(paths).toEqual(['state', 'messages']);
      (await server.rig.next()).end();
    });

    it('and leaves out another message that waits', async () => {
      await other.send('one');
      const asked = await server.rig.next();
      await other.send('two');
      expect(textOf(await transport.loadMessages(id))).toBe('one');
      asked.text('1').end();
      (await server.rig.next()).text('2').end();
    });
  });

  it('shows why a turn failed', async () => {
    const chat = await open();
    const sent = chat.sendMessage({ text: 'Hello' });
    (await server.rig.next()).text('Hm').fail(new RigError('no credit left', { retryable: false }));
    await sent;
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toMatch(/./);
    expect(textOf(repliesOf(chat))).toBe('Hm');
  });

  it('passes on the refusal of the service', async () => {
    transport = new DiptychChatTransport({ url: server.url, app: 'unknown', key: 'none' });
    const chat = testChat(id, transport, [], version);
    await chat.sendMessage({ text: 'Hello' });
    expect(chat.error).toBeInstanceOf(ClientError);
    expect(chat.error).toMatchObject({ kind: 'refused', status: 401 });
  });

  describe('refuses', () => {
    const send = (request: Partial<Parameters<DiptychChatTransport['sendMessages']>[0]>) =>
      transport.sendMessages({
        ...{ trigger: 'submit-message', chatId: id, messageId: undefined, messages: [question('Hi')] },
        ...{ abortSignal: undefined, ...request },
      });

    it.each([
      [
        'another reply to a message that it does not know',
        { trigger: 'regenerate-message' as const },
        /does not know message q: create one transport, outside of components, and pass what its/,
      ],
      ['another version of a message that it does not know', { messageId: 'q' }, /does not know message q/],
      [
        'another reply to nobody',
        { trigger: 'regenerate-message' as const, messages: [] },
        /Only a reply to a message of the user/,
      ],
      [
        'a message of the assistant',
        { messages: [{ ...question('Hi'), role: 'assistant' as const }] },
        /Only a message of the user/,
      ],
      ['no message', { messages: [] }, /Only a message of the user/],
      ['a chat whose id is not a UUID', { chatId: 'abc' }, /must be a UUID/],
      [
        'a file',
        {
          messages: [
            {
              ...{ id: 'q', role: 'user' as const },
              parts: [{ type: 'file' as const, mediaType: 'image/png', url: 'data:,' }],
            },
          ],
        },
        /text only, not a part of type file/,
      ],
    ])('%s', async (_, request, reason) => {
      await expect(send(request)).rejects.toThrow(reason);
      expect(server.rig.asked).toHaveLength(0);
    });
  });
});
