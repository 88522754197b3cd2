import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { TurnUpdate, Update } from '../../../src/core/model/update.js';
import type { Signal } from '../../../src/core/model/event.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { closeTestCores, collectUntil, created, message, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { joinedBuses, twoNodes } from '../../support/nodes.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

/** Two nodes; the other's store cannot read turns so many times. The bus loses what `drops` says. */
function withReadsAway(times: number, drops: (signal: Signal) => boolean) {
  const store = createMemoryStore();
  const reads = { count: 0 };
  const failing: Store = {
    ...store,
    readTurn: (...asked) =>
      reads.count++ < times ? Promise.reject(new StoreUnavailableError('away')) : store.readTurn(...asked),
  };
  const [busA, busB] = joinedBuses(drops);
  const rig = new ScriptedRig();
  const clock = new FakeClock();
  const { core: owner } = testCore({ rigs: [rig], store, bus: busA, clock });
  const { core: other } = testCore({ rigs: [new ScriptedRig()], store: failing, bus: busB, clock });
  return { owner, other, rig, reads, clock };
}

describe('deltas on a node that does not work on the turn', () => {
  it('are shown once and in order, whatever the bus loses and however late the stream begins', async () => {
    let n = 0;
    const { owner, other, rig, clock } = twoNodes((signal) => signal.type === 'text' && n++ % 5 === 2);
    const id = uuid();
    const early = await other.updates(created(id), { after: null, turns: true });
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    const words = Array.from({ length: 40 }, (_, index) => `${String(index)} `);
    asked.text(...words.slice(0, 20));
    await clock.passUntil(
      collectUntil(
        await owner.updates(created(id), { after: null, turns: true }),
        ({ type }) => type === 'text',
      ),
    );
    const late = await other.updates(created(id), { after: null, turns: true });
    asked.text(...words.slice(20));
    for (const feed of [early, late]) {
      let text = '';
      await clock.passUntil(
        collectUntil(feed, (update) => {
          if (update.type === 'turn_started') text = '';
          if (update.type === 'text') text += update.content;
          expect(words.join('').startsWith(text)).toBe(true);
          return text === words.join('');
        }),
      );
    }
    asked.end();
  });

  it.each<[string, (signal: Signal, n: number) => boolean]>([
    ['the last of the text', ({ type }, n) => type === 'text' && n > 3],
    ['all of the text', ({ type }) => type === 'text'],
    ['the end', ({ type }) => type === 'turn_ended'],
    ['everything but the end', ({ type }) => type !== 'turn_ended'],
  ])('are made good when the bus loses %s', async (_, loses) => {
    let n = 0;
    const { owner, other, rig, clock } = twoNodes((signal) => loses(signal, n++));
    const id = uuid();
    const feed = await other.updates(created(id), { after: null, turns: true });
    await other.start();
    await owner.send(message(id, 'Hi'));
    (await rig.next()).text('one ', 'two ', 'three ').call('c', 'none').end();
    (await rig.next()).text('four ', 'five').end();
    const updates = await clock.passUntil(collectUntil(feed, ({ type }) => type === 'turn_ended'));
    let text = '';
    for (const update of updates) {
      if (update.type === 'turn_started') text = '';
      if (update.type === 'text') text += update.content;
    }
    expect(text).toBe('one two three four five');
    expect(updates.filter(({ type }) => type === 'turn_ended')).toMatchObject([{ outcome: 'complete' }]);
  });

  it('come from the store alone when the bus carries nothing', async () => {
    const { owner, other, rig, clock } = twoNodes(() => true);
    const id = uuid();
    const feed = await other.updates(created(id), { after: null, turns: true });
    await other.start();
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    asked.text('one ');
    const shown: unknown[] = [];
    await clock.passUntil(
      collectUntil(feed, (update) => {
        if (update.type === 'logged') return false;
        shown.push(update.type === 'text' ? update.content : update.type);
        if (shown.at(-1) === 'one ') asked.text('two').end();
        return update.type === 'turn_ended';
      }),
    );
    const last = shown.lastIndexOf('turn_started');
    expect([shown.slice(0, 2), shown.slice(last + 1).join()]).toEqual([
      ['turn_started', 'one '],
      last === 0 ? 'one ,two,turn_ended' : 'one two,turn_ended',
    ]);
  });

  it('do not end without their text when the store cannot be read at the end', async () => {
    const { owner, other, rig, reads, clock } = withReadsAway(1, ({ type }) => type === 'text');
    const id = uuid();
    const feed = await other.updates(created(id), { after: null, turns: true });
    await other.start();
    await owner.send(message(id, 'Hi'));
    (await rig.next()).text('one ', 'two').end();
    const updates = await clock.passUntil(collectUntil(feed, ({ type }) => type === 'turn_ended'));
    const last = updates.findLastIndex(({ type }) => type === 'turn_started');
    const texts = updates.slice(last).flatMap((update) => (update.type === 'text' ? [update.content] : []));
    expect([reads.count > 1, texts.join('')]).toEqual([true, 'one two']);
  });

  it('end in order when the store cannot be read at the end of one turn and at the beginning of the next', async () => {
    const { owner, other, rig, clock } = withReadsAway(2, () => false);
    const id = uuid();
    const feed = await other.updates(created(id), { after: null, turns: true });
    const sent: string[] = [];
    for (const text of ['one', 'two']) {
      const turn = await owner.send(message(id, text));
      (await rig.next()).text(text).end();
      await owner.turnEnded(turn, new AbortController().signal);
      sent.push(turn.turnId);
    }
    const ended: string[] = [];
    await clock.passUntil(
      collectUntil(feed, (update) => {
        if (update.type === 'turn_ended') ended.push(update.turnId);
        return ended.includes(sent[1] ?? '');
      }),
    );
    expect(ended).toEqual(sent);
  });

  it.each(['updates', 'watchTurn'] as const)(
    'have their whole text in %s when they began here and ended elsewhere, and nothing was received between',
    async (kind) => {
      const store = createMemoryStore();
      const clock = new FakeClock();
      // Only the end reaches the node that had the turn first.
      const [busA, busB] = joinedBuses(({ type }) => type !== 'turn_ended');
      const [rigA, rigB] = [new ScriptedRig(), new ScriptedRig()];
      // Not started, it does not renew its lease, and does not see that it has lapsed.
      const settings = { leaseMs: 1 };
      const { core: first } = testCore({ rigs: [rigA], store, bus: busA, clock, settings });
      const { core: second } = testCore({ rigs: [rigB], store, bus: busB, clock });
      const id = uuid();
      const sent = await first.send(message(id, 'Hi'));
      await rigA.next();
      const feed =
        kind === 'updates'
          ? await first.updates(created(id), { after: null, turns: true })
          : await first.watchTurn(sent);
      await second.start();
      (await clock.passUntil(rigB.next())).text('one ', 'two').end();
      const shown = await clock.passUntil(
        collectUntil<TurnUpdate | Update>(feed, ({ type }) => type === 'turn_ended'),
      );
      const last = shown.findLastIndex(({ type }) => type === 'turn_started');
      const texts = shown.slice(last).flatMap((update) => (update.type === 'text' ? [update.content] : []));
      expect(texts.join('')).toBe('one two');
    },
  );

  it('end before those of the next turn begin, also when the store cannot be read at once after the bus has lost the end', async () => {
    const { owner, other, rig, reads, clock } = withReadsAway(2, ({ type }) => type === 'turn_ended');
    const id = uuid();
    const feed = await other.updates(created(id), { after: null, turns: true });
    await other.start();
    await owner.send(message(id, 'Hi'));
    await owner.send(message(id, 'And'));
    (await rig.next()).text('first').end();
    (await rig.next()).text('second');
    const updates = await clock.passUntil(
      collectUntil(feed, (update) => update.type === 'text' && update.content.endsWith('second')),
    );
    const types = updates.map(({ type }) => type).filter((type) => type !== 'logged');
    expect([reads.count > 2, ...types]).toEqual([
      true,
      ...['turn_started', 'text', 'turn_ended'],
      ...['turn_started', 'text'],
    ]);
  });

  it('end before those of the next turn begin, when the bus has lost the end', async () => {
    const { owner, other, rig, clock } = twoNodes(({ type }) => type === 'turn_ended');
    const id = uuid();
    const feed = await other.updates(created(id), { after: null, turns: true });
    await owner.send(message(id, 'Hi'));
    await owner.send(message(id, 'And'));
    (await rig.next()).text('first').end();
    (await rig.next()).text('second');
    const updates = await clock.passUntil(
      collectUntil(feed, (update) => update.type === 'text' && update.content === 'second'),
    );
    const ofTurns = updates.filter(({ type }) => type !== 'logged');
    expect(ofTurns.map(({ type }) => type)).toEqual([
      ...['turn_started', 'text', 'turn_ended'],
      ...['turn_started', 'text'],
    ]);
    await clock.passUntil(owner.close());
  });
});
