import { describe, expect, it } from '@jest/globals';
import type { HistoryPage, SessionEvent } from '../../src/client/types.js';
import { LiveView } from '../../src/client/view/live-view.js';
import { Gate } from '../support/gate.js';
import { agent, state, user } from './states.js';

const CREATED = '2026-01-01T00:00:00.000Z';

/** A state after this many turns. */
function stateAfter(turns: number): SessionEvent {
  const messages = Array.from({ length: turns }, (_, i) => [
    user(`Question ${String(i)}`),
    agent(`Answer ${String(i)}`),
  ]);
  return state('idle', ...messages.flat());
}

/** The history of the same turns. */
function historyAfter(turns: number): HistoryPage {
  const ids = Array.from({ length: turns }, (_, i) => String(i));
  const stored = { toolCalls: [], createdAt: CREATED };
  return {
    messages: ids.flatMap((turnId) => [
      { ...stored, id: `q${turnId}`, turnId, role: 'user', content: `Question ${turnId}` },
      { ...stored, id: `a${turnId}`, turnId, role: 'assistant', content: `Answer ${turnId}` },
    ]),
    turns: ids.map((turnId) => ({
      ...{ turnId, status: 'complete', rig: 'demo', inputTokens: 1, outputTokens: 1 },
      ...{ error: null, createdAt: CREATED, endedAt: CREATED },
    })),
    hasMore: false,
  };
}

describe('a live view', () => {
  it('reads the history again for a state that came during a reading, and once', async () => {
    let answerFirst: (page: HistoryPage) => void = () => undefined;
    const first = new Promise<HistoryPage>((resolve) => (answerFirst = resolve));
    const answers = [first, Promise.resolve(historyAfter(2))];
    let readings = 0;
    const view = new LiveView(
      {
        async *watch() {
          yield stateAfter(1);
          yield stateAfter(2);
          answerFirst(historyAfter(1));
          await new Promise(setImmediate);
        },
        interrupt: () => Promise.reject(new Error('not asked for')),
      },
      { historyPage: () => answers[readings++] ?? Promise.reject(new Error('read too often')) },
    );
    for await (const event of view.follow()) expect(event.type).toBe('state');
    const ids = view.get().messages.map(({ origin }) => origin?.messageId);
    expect(ids).toEqual(['q0', 'a0', 'q1', 'a1']);
    expect(readings).toBe(2);
    view.close();
  });

  it('reads on where a page ends early, because its messages are long', async () => {
    const { messages, turns } = historyAfter(3);
    const asked: (string | undefined)[] = [];
    const view = new LiveView(
      {
        async *watch() {
          yield stateAfter(3);
          await new Promise(setImmediate);
        },
        interrupt: () => Promise.reject(new Error('not asked for')),
      },
      {
        // One turn a page.
        historyPage: ({ before }) => {
          asked.push(before);
          const end = before === undefined ? messages.length : messages.findIndex(({ id }) => id === before);
          const page = messages.slice(end - 2, end);
          const ended = turns.filter(({ turnId }) => turnId === page[0]?.turnId);
          return Promise.resolve({ messages: page, turns: ended, hasMore: end > 2 });
        },
      },
    );
    for await (const event of view.follow()) expect(event.type).toBe('state');
    const origins = view.get().messages.map(({ origin }) => origin?.messageId);
    expect(origins).toEqual(['q0', 'a0', 'q1', 'a1', 'q2', 'a2']);
    expect(asked).toEqual([undefined, 'q2', 'q1']);
    view.close();
  });

  it('reads in the history which message is running when it joins after a cancelled one', async () => {
    const { messages, turns, hasMore } = historyAfter(2);
    const asked = messages.filter(({ role }) => role === 'user');
    const [cancelled, running] = turns;
    if (cancelled === undefined || running === undefined) throw new Error('there are two turns');
    const page: HistoryPage = {
      messages: asked,
      turns: [
        { ...cancelled, status: 'interrupted' },
        { ...running, status: 'running', endedAt: null },
      ],
      hasMore,
    };
    const view = new LiveView(
      {
        async *watch() {
          yield state('processing', user('Question 0'), user('Question 1'));
          await new Promise(setImmediate);
        },
        interrupt: () => Promise.reject(new Error('not asked for')),
      },
      { historyPage: () => Promise.resolve(page) },
    );
    for await (const event of view.follow()) expect(event.type).toBe('state');
    expect(view.get().messages.map(({ fate }) => fate)).toEqual(['cancelled', undefined]);
    expect(view.get().queued).toEqual([]);
    view.close();
  });

  it('shows the response to an interrupt, unless a state has come since', async () => {
    const gate = new Gate();
    const view = new LiveView(
      {
        async *watch() {
          yield await Promise.resolve(stateAfter(2));
        },
        interrupt: async () => {
          await gate.passed;
          return state('idle', user('Question 0'), agent('Answer 0')).state;
        },
      },
      null,
    );
    const late = view.interrupt();
    for await (const event of view.follow()) expect(event.type).toBe('state');
    gate.open();
    await late;
    expect(view.get().messages).toHaveLength(4);
    await view.interrupt();
    expect(view.get().messages).toHaveLength(2);
    view.close();
  });
});
