import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  DiptychChatTransport,
  type DiptychChatTransportOptions,
} from '../../../src/client/ai-sdk/chat-transport.js';
import { createClient, type Client } from '../../../src/client/index.js';
import { serveScripted } from '../../support/http.js';
import type { Asked } from '../../support/scripted-rig.js';
import { watching } from '../watching.js';
import { HeldFetch } from './changed-fetch.js';
import { resumeTwice, type TestChat, testChat, textOf, VERSIONS } from './test-chat.js';

describe.each(VERSIONS)('DiptychChatTransport with version %s of the AI SDK', (version) => {
  let server: Awaited<ReturnType<typeof serveScripted>>;
  let transport: DiptychChatTransport;
  let id: string;
  let other: Client;

  beforeEach(async () => {
    server = await serveScripted({ surfaces: ['current'] });
    id = randomUUID();
    other = createClient({ url: server.url, sessionId: id });
    create({});
  });
  afterEach(async () => {
    other.close();
    await server.close();
  });

  function create(options: Partial<DiptychChatTransportOptions>): void {
    transport = new DiptychChatTransport({ url: server.url, ...options });
  }

  const open = async (): Promise<TestChat> =>
    testChat(id, transport, await transport.loadMessages(id), version);

  /** A chat that shows the beginning of a reply. */
  async function counting(): Promise<{ chat: TestChat; sent: Promise<void>; asked: Asked }> {
    const chat = await open();
    const sent = chat.sendMessage({ text: 'Count' });
    const asked = await server.rig.next();
    asked.text('one ');
    await chat.shows('one ');
    return { chat, sent, asked };
  }

  describe('when a chat is left', () => {
    it('lets the reply go on, and shows all of it on return', async () => {
      const { chat, sent, asked } = await counting();
      await Promise.all([chat.stop(), sent]);
      expect(chat.status).toBe('ready');
      const again = await open();
      expect(textOf(again.messages)).toBe('Count');
      const resumed = resumeTwice(again, version);
      asked.text('two ');
      await again.shows('one two ');
      expect(asked.signal.aborted).toBe(false);
      await again.stop();
      await resumed;
      const last = await open();
      const resumedLast = resumeTwice(last, version);
      await last.shows('one two ');
      asked.text('three').end();
      await resumedLast;
      expect(textOf(last.messages)).toBe('Countone two three');
      expect(textOf(await transport.loadMessages(id))).toBe('Countone two three');
    });

    it('keeps a resumed reply that ends before the return', async () => {
      await other.send('Count');
      const asked = await server.rig.next();
      const messages = await transport.loadMessages(id);
      const chat = testChat(id, transport, messages, version);
      const resumed = chat.resumeStream();
      asked.text('one ');
      await chat.shows('one ');
      await Promise.all([chat.stop(), resumed]);
      const received = watching(other);
      await received.until(() => received.of('turn_started').length > 0);
      asked.text('two').end();
      await received.until(() => received.of('turn_ended').length > 0);
      received.stop();
      const again = testChat(id, transport, messages, version);
      await resumeTwice(again, version);
      expect(textOf(again.messages)).toBe('Countone two');
    });

    it('sends the message that is on its way', async () => {
      const gate = new HeldFetch('/api/chat');
      create({ fetch: gate.fetch });
      const chat = await open();
      gate.hold();
      const sent = chat.sendMessage({ text: 'Count' });
      await gate.reached;
      await Promise.all([chat.stop(), sent]);
      gate.release();
      const asked = await server.rig.next();
      const again = await open();
      const resumed = again.resumeStream();
      asked.text('one').end();
      await resumed;
      expect(textOf(again.messages)).toBe('Countone');
    });
  });

  describe.each<[string, Partial<DiptychChatTransportOptions>, (chat: TestChat) => Promise<unknown>]>([
    ['interrupt', {}, () => transport.interrupt(id)],
    ['interrupt and stop', {}, (chat) => Promise.all([transport.interrupt(id), chat.stop()])],
    ['stop and interrupt', {}, (chat) => Promise.all([chat.stop(), transport.interrupt(id)])],
    ['stop with interruptOnAbort', { interruptOnAbort: true }, (chat) => chat.stop()],
  ])('with %s', (_, options, stop) => {
    beforeEach(() => {
      create(options);
    });

    it('interrupts the turn, and sends the next message after that', async () => {
      const { chat, sent, asked } = await counting();
      const stopped = stop(chat);
      const next = chat.sendMessage({ text: 'And now?' });
      await Promise.all([sent, stopped, asked.left]);
      expect(asked.signal.aborted).toBe(true);
      (await server.rig.next()).text('Now this.').end();
      await next;
      expect(textOf(chat.messages)).toBe('Countone And now?Now this.');
      expect(chat.error).toBeUndefined();
    });

    it('interrupts a turn before the service has accepted its message', async () => {
      const gate = new HeldFetch('/api/chat');
      create({ ...options, fetch: gate.fetch });
      const chat = await open();
      gate.hold();
      const sent = chat.sendMessage({ text: 'Count' });
      await gate.reached;
      const stopped = stop(chat);
      await sent;
      gate.release();
      const next = chat.sendMessage({ text: 'And now?' });
      const asked = await server.rig.next();
      await Promise.all([asked.left, stopped]);
      expect(asked.signal.aborted).toBe(true);
      (await server.rig.next()).text('Now this.').end();
      await next;
      expect(textOf(chat.messages)).toBe('CountAnd now?Now this.');
    });

    it('interrupts a resumed turn, and not for a second mount', async () => {
      await other.send('Count');
      const asked = await server.rig.next();
      asked.text('one ');
      const chat = await open();
      const resumed = resumeTwice(chat, version);
      await chat.shows('one ');
      expect(asked.signal.aborted).toBe(false);
      await Promise.all([stop(chat), resumed, asked.left]);
      expect(asked.signal.aborted).toBe(true);
      expect(chat.status).toBe('ready');
    });
  });

  describe('when an interrupt fails', () => {
    const failing: typeof fetch = (input, init) =>
      new Request(input).url.endsWith('/interrupt')
        ? Promise.reject(new TypeError('the network is down'))
        : fetch(input, init);

    it('rejects, and sends the next message nevertheless', async () => {
      create({ fetch: failing });
      const { chat, sent, asked } = await counting();
      const stopped = transport.interrupt(id);
      const next = chat.sendMessage({ text: 'And now?' });
      await expect(stopped).rejects.toMatchObject({ kind: 'unreachable' });
      await sent;
      asked.text('two').end();
      (await server.rig.next()).text('Now this.').end();
      await next;
      expect(textOf(chat.messages)).toBe('Countone And now?Now this.');
    });

    it('reports it with interruptOnAbort', async () => {
      const failures: unknown[] = [];
      const onInterruptError = (error: unknown): void => {
        failures.push(error);
      };
      create({ fetch: failing, interruptOnAbort: true, onInterruptError });
      const { chat, sent, asked } = await counting();
      await Promise.all([chat.stop(), sent]);
      const next = chat.sendMessage({ text: 'And now?' });
      asked.text('two').end();
      (await server.rig.next()).text('Now this.').end();
      await next;
      expect(failures).toMatchObject([{ kind: 'unreachable' }]);
    });
  });

  it('interrupts the turn of another client', async () => {
    await other.send('Count');
    const asked = await server.rig.next();
    await Promise.all([transport.interrupt(id), asked.left]);
    expect(asked.signal.aborted).toBe(true);
  });
});
