import { describe, expect, it } from '@jest/globals';
import { Question } from '../../src/client/current/question.js';
import type { InnerEvent } from '../../src/client/inner-event.js';
import type { HistoryPage } from '../../src/client/types.js';
import { agent, state, user } from './states.js';

/** The stored messages, with the record of the question's turn. */
function page(status: 'running' | 'interrupted'): HistoryPage {
  const turn = {
    turnId: 't',
    status,
    rig: null,
    inputTokens: 0,
    outputTokens: 0,
    error: null,
    createdAt: '',
  };
  const endedAt = status === 'running' ? null : '2026-01-01T00:00:00.000Z';
  return { messages: [], turns: [{ ...turn, endedAt }], hasMore: false };
}

/** Returns the types of the events that a repeated second message yields. */
function typesOf(record: HistoryPage, ...events: readonly InnerEvent[]): readonly string[] {
  const question = new Question(() => 2);
  question.sent('t', true);
  question.recorded(record);
  return events.flatMap((event) => [...question.receive(event)].map(({ type }) => type));
}

describe('Question', () => {
  // The text before a running tool call looks like a finished reply, and the message behind it like a running one.
  const calling = state('processing', user('A'), agent('a'), user('B'), agent('b'), user('C'));

  it('waits for the end of a turn that runs a tool, while a later message is queued', () => {
    const earlier = { type: 'turn_started', turnId: 's' } as const;
    const own = { type: 'turn_started', turnId: 't' } as const;
    const end = { type: 'turn_ended', turnId: 't', status: 'complete' } as const;
    expect(typesOf(page('running'), calling, earlier, own)).toEqual(['turn_started']);
    expect(typesOf(page('running'), calling, earlier, own, end)).toContain('turn_ended');
  });

  it('ends with the next state when the record says that its turn has ended', () => {
    expect(typesOf(page('interrupted'), calling)).toEqual(['turn_started', 'text', 'state', 'turn_ended']);
  });

  it('ends when no turn is running and there is no record', () => {
    const none = { messages: [], turns: [], hasMore: false };
    expect(typesOf(none, calling)).toEqual([]);
    expect(typesOf(none, state('idle', ...calling.state.messages))).toContain('turn_ended');
  });
});
