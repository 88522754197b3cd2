import { describe, expect, it } from '@jest/globals';
import type { TurnEvent } from '../../src/core/event.js';
import type { Message } from '../../src/core/message.js';
import { TurnCursor } from '../../src/core/turn-cursor.js';

const turnId = 'turn';
const call = { callId: 'c', name: 'look', args: {} };
const result = { callId: 'c', name: 'look', result: 'seen', failed: false, multiStep: false };

const text = (position: number, offset: number, content: string): TurnEvent => ({
  ...{ type: 'text', turnId, attempt: 1, position, offset, content },
});
const called: TurnEvent = { type: 'tool_called', turnId, call, position: 1, length: 'Wait. '.length };
const returned: TurnEvent = { type: 'tool_returned', turnId, result };

function record(position: number, over: Partial<Message>): Message {
  return {
    ...{ id: String(position), turnId, turnNo: 1, position, role: 'assistant', content: '' },
    ...{ toolCalls: null, toolResults: null, createdAt: 0, ...over },
  };
}

const asked = record(0, { role: 'user', content: 'Hi' });
const looked = record(1, { content: 'Wait. ', toolCalls: [call], toolResults: [result] });

/** What was shown: text as it is, of anything else its type. */
function shown(events: Iterable<TurnEvent>): string[] {
  return [...events].map((event) => (event.type === 'text' ? event.content : event.type));
}

describe('a cursor over a turn', () => {
  it('shows live events as they come', () => {
    const cursor = new TurnCursor(turnId);
    const live = [text(1, 0, 'Wait. '), called, returned, text(2, 0, 'There.')];
    expect(live.flatMap((event) => shown(cursor.pass(event)))).toEqual([
      ...['Wait. ', 'tool_called', 'tool_returned', 'There.'],
    ]);
    expect(cursor.hasHole).toBe(false);
  });

  it.each<[string, readonly TurnEvent[]]>([
    ['a whole step', []],
    ['its call and its result', [text(1, 0, 'Wait. ')]],
    ['its result', [text(1, 0, 'Wait. '), called]],
  ])(
    'holds the text of a step when it has missed %s of the one before, and then shows all in order',
    (_, heard) => {
      const cursor = new TurnCursor(turnId);
      const before = heard.flatMap((event) => shown(cursor.pass(event)));
      expect(shown(cursor.pass(text(2, 0, 'There')))).toEqual([]);
      expect(cursor.hasHole).toBe(true);
      const after = shown(cursor.read([asked, looked]));
      expect([...before, ...after]).toEqual(['Wait. ', 'tool_called', 'tool_returned', 'There']);
      expect(shown(cursor.pass(text(2, 5, '.')))).toEqual(['.']);
    },
  );

  it.each<[string, readonly TurnEvent[], readonly string[]]>([
    ['its text', [called, returned], []],
    ['the end of its text', [text(1, 0, 'Wa'), called, returned], ['Wa']],
    ['its call', [text(1, 0, 'Wait. '), returned], ['Wait. ']],
  ])(
    'shows nothing of a step behind a hole, and then all in order, when it has missed %s',
    (_, heard, seen) => {
      const cursor = new TurnCursor(turnId);
      expect(heard.flatMap((event) => shown(cursor.pass(event)))).toEqual(seen);
      expect(cursor.hasHole).toBe(true);
      expect(shown(cursor.pass(text(2, 0, 'There')))).toEqual([]);
      const rest = 'Wait. '.slice(seen.join('').length);
      expect(shown(cursor.read([asked, looked]))).toEqual([
        ...(rest === '' ? [] : [rest]),
        ...['tool_called', 'tool_returned', 'There'],
      ]);
      expect(cursor.hasHole).toBe(false);
    },
  );

  it('goes on live after it has read of a step that had no text', () => {
    const cursor = new TurnCursor(turnId);
    const silent = record(1, { toolCalls: [call], toolResults: [result] });
    expect(shown(cursor.read([asked, silent]))).toEqual(['tool_called', 'tool_returned']);
    expect(shown(cursor.pass(text(2, 0, 'There.')))).toEqual(['There.']);
  });

  it('contradicts itself when text in flight of the store is made anew by another attempt', () => {
    const started = (attempt: number): TurnEvent => ({ type: 'turn_started', turnId, attempt });
    const cursor = new TurnCursor(turnId);
    expect(shown(cursor.read([asked], { attempt: 1, position: 1, text: 'One two three' }))).toEqual([
      'One two three',
    ]);
    expect(cursor.isContradictedBy(started(1))).toBe(false);
    expect(cursor.isContradictedBy(started(2))).toBe(true);
  });

  it('does not show the text in flight of an attempt that another one has made anew', () => {
    const cursor = new TurnCursor(turnId);
    expect(shown(cursor.pass({ type: 'turn_started', turnId, attempt: 2 }))).toEqual(['turn_started']);
    expect(shown(cursor.read([asked], { attempt: 1, position: 1, text: 'Old' }))).toEqual([]);
    expect(cursor.isContradictedBy({ type: 'turn_started', turnId, attempt: 1 })).toBe(false);
  });
});
