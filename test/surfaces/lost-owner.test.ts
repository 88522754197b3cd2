import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createClient } from '../../src/client/index.js';
import type { RunningCore } from '../../src/core/create-core.js';
import type { Store } from '../../src/core/ports/store.js';
import { Received } from '../client/watching.js';
import { closeTestCores, message, testCore } from '../support/core.js';
import { openStore, serveCore, type TestServer } from '../support/http.js';
import { ScriptedRig, type Asked } from '../support/scripted-rig.js';
import { openStream, type OpenStream } from '../support/sse.js';

/** Three services on one store without signals between them: one works, one is to take over, one serves the client. */
let store: Store;
let server: TestServer;
let successor: RunningCore;
let session: string;
let turnId: string;
let first: Asked;
const next = { rig: new ScriptedRig() };

beforeEach(async () => {
  store = await openStore('memory');
  const rig = new ScriptedRig();
  next.rig = new ScriptedRig();
  // Not started, it does not see that its lease has lapsed: so it is as good as dead once somebody looks.
  const { core: owner } = testCore({ rigs: [rig], store, settings: { leaseMs: 1 } });
  successor = testCore({ rigs: [next.rig], store }).core;
  const watching = testCore({
    rigs: [new ScriptedRig()],
    store: { ...store, claimAbandoned: () => Promise.resolve([]) },
  });
  await watching.core.start();
  server = await serveCore(watching.core, { log: watching.log });
  session = randomUUID();
  ({ turnId } = await owner.send(message(session, 'Hi', { idempotencyKey: 'k' })));
  first = await rig.next();
});

afterEach(async () => {
  await server.close();
  await closeTestCores();
  await store.close();
});

/** The stream of the turn: a repeat gets that of the message which was sent before. */
function chat(): Promise<OpenStream> {
  return openStream(`${server.url}/api/thread/chat`, {
    method: 'POST',
    headers: { 'X-Session-Id': session, 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
    body: JSON.stringify({ text: 'Hi' }),
  });
}

function updates(): Promise<OpenStream> {
  return openStream(`${server.url}/api/updates?include=turns`, { headers: { 'X-Session-Id': session } });
}

const shows = (content: string) => (stream: OpenStream) => stream.bytes.includes(content);
const text = (content: string) => `data: {"type":"text","content":"${content}"}\n\n`;
const complete = 'data: {"type":"complete"}\n\n';

describe('the stream of a turn whose owner dies, where no signal of another process arrives', () => {
  it('on the legacy surface has its text while it is made, and ends with an error where another text begins', async () => {
    const stream = await chat();
    first.text('One two ');
    await stream.until(shows('One two '));
    await successor.start();
    (await next.rig.next()).text('Uno dos').end();
    const bytes = await stream.end();
    const error = 'The answer was started again, and what was shown of it no longer holds.';
    expect(bytes).toBe(
      `${text('One two ')}data: {"type":"error","message":"${error} Read the new answer with GET /api/thread/state."}\n\n`,
    );
    expect(await (await chat()).end()).toBe(text('Uno dos') + complete);
  });

  it('on the legacy surface goes on where the new text continues exactly what was shown', async () => {
    const stream = await chat();
    first.text('One two ');
    await stream.until(shows('One two '));
    await successor.start();
    (await next.rig.next()).text('One two three').end();
    expect(await stream.end()).toBe(text('One two ') + text('three') + complete);
  });

  it('on the current surface begins the turn again', async () => {
    const stream = await updates();
    first.text('One two ');
    await stream.until(shows('One two '));
    await successor.start();
    (await next.rig.next()).text('Uno dos').end();
    await stream.until(shows('turn_ended'));
    const event = (type: string, more: object = {}) => ({
      type,
      session_id: session,
      turn_id: turnId,
      ...more,
    });
    const ofTurn = stream.events.filter(({ id }) => id === undefined);
    expect(ofTurn.map(({ data }): unknown => JSON.parse(data))).toEqual([
      event('turn_started'),
      event('text_delta', { content: 'One two ', offset: 0 }),
      event('turn_started'),
      event('text_delta', { content: 'Uno dos', offset: 0 }),
      event('turn_ended', { status: 'complete' }),
    ]);
    stream.close();
  });

  it.each(['current', 'legacy'] as const)(
    'is shown by the client as the new text, over the %s surface',
    async (surface) => {
      const client = createClient({ url: server.url, surface, sessionId: session });
      const received = new Received(client.ask('Hi', { idempotencyKey: 'k' }));
      const texts = () => [...received.texts().values()];
      first.text('One two ');
      await received.until(() => texts().includes('One two '));
      await successor.start();
      (await next.rig.next()).text('Uno dos').end();
      await received.ended;
      expect(texts()).toEqual(['Uno dos']);
      expect(received.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'complete' });
      client.close();
    },
  );
});
