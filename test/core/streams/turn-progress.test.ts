import { describe, expect, it } from '@jest/globals';
import type { TurnEvent } from '../../../src/core/model/event.js';
import type { Message } from '../../../src/core/model/message.js';
import { TurnProgress } from '../../../src/core/streams/turn-progress.js';

const turnId = 'turn';
const call = { callId: 'c', name: 'look', args: {} };
const result = { callId: 'c', name: 'look', result: 'seen', failed: false, multiStep: false };

type Text = Extract<TurnEvent, { type: 'text' }>;
type Tool = Extract<TurnEvent, { type: 'tool_called' | 'tool_returned' }>;

const text = (position: number, offset: number, content: string, attempt = 1): Text => ({
  ...{ type: 'text', turnId, attempt, position, offset, before: position === 1 ? 0 : 6, content },
});
const step = { attempt: 1, position: 1, length: 'Wait. '.length, count: 1 };
const called: Tool = { type: 'tool_called', turnId, call, ...step };
const returned: Tool = { type: 'tool_returned', turnId, result };

function record(position: number, over: Partial<Message>): Message {
  return {
    ...{ id: String(position), turnId, turnNo: 1, position, role: 'assistant', content: '' },
    ...{ toolCalls: null, toolResults: null, createdAt: 0, ...over },
  };
}

const asked = record(0, { role: 'user', content: 'Hi' });
const looked = record(1, { content: 'Wait. ', toolCalls: [call], toolResults: [result] });

/** What was shown: text as it is, of anything else its type. */
function shown(events: readonly TurnEvent[]): string[] {
  return events.map((event) => (event.type === 'text' ? event.content : event.type));
}

function take(progress: TurnProgress, event: Text | Tool): string[] {
  if (event.type !== 'text') return shown(progress.takeTool(event));
  const fresh = progress.takeText(event);
  return fresh === undefined ? [] : shown([fresh]);
}

function read(progress: TurnProgress, ...records: Message[]): string[] {
  return shown(progress.read({ records, isOver: false }));
}

describe('TurnProgress', () => {
  it('shows the text after the verdict on a wallet request, which is no step', () => {
    const progress = new TurnProgress(turnId);
    const claim = record(0, { role: 'system', origin: 'wallet', content: 'reported' });
    const verdict = record(1, { role: 'system', origin: 'wallet', content: 'confirmed' });
    expect(take(progress, text(2, 0, 'Pa'))).toEqual([]);
    expect(progress.hasHole).toBe(true);
    expect(read(progress, claim, verdict)).toEqual(['Pa']);
    expect(progress.hasHole).toBe(false);
    expect(take(progress, text(2, 2, 'id.'))).toEqual(['id.']);
    expect(read(progress, claim, verdict, record(2, { content: 'Paid. Bye.' }))).toEqual([' Bye.']);
  });

  it('returns live events as they come, the very objects where all of them is new', () => {
    const progress = new TurnProgress(turnId);
    const live = [text(1, 0, 'Wait. '), called, returned, text(2, 0, 'There.')];
    expect(live.flatMap((event) => take(progress, event))).toEqual([
      ...['Wait. ', 'tool_called', 'tool_returned', 'There.'],
    ]);
    expect(progress.hasHole).toBe(false);
    const next = text(2, 'There.'.length, ' Yes');
    expect(progress.takeText(next)).toBe(next);
  });

  it.each<[string, readonly (Text | Tool)[]]>([
    ['a whole step', []],
    ['its call and its result', [text(1, 0, 'Wait. ')]],
    ['its result', [text(1, 0, 'Wait. '), called]],
  ])(
    'holds the text of a step when it has missed %s of the one before, and then returns all in order',
    (_, received) => {
      const progress = new TurnProgress(turnId);
      const before = received.flatMap((event) => take(progress, event));
      expect(take(progress, text(2, 0, 'There'))).toEqual([]);
      expect(progress.hasHole).toBe(true);
      const after = read(progress, asked, looked);
      expect([...before, ...after]).toEqual(['Wait. ', 'tool_called', 'tool_returned', 'There']);
      expect(take(progress, text(2, 5, '.'))).toEqual(['.']);
    },
  );

  it.each<[string, readonly (Text | Tool)[], readonly string[]]>([
    ['its text', [called, returned], []],
    ['the end of its text', [text(1, 0, 'Wa'), called, returned], ['Wa']],
    ['its call', [text(1, 0, 'Wait. '), returned], ['Wait. ']],
  ])(
    'returns nothing of a step behind a hole, and then all in order, when it has missed %s',
    (_, received, seen) => {
      const progress = new TurnProgress(turnId);
      expect(received.flatMap((event) => take(progress, event))).toEqual(seen);
      expect(progress.hasHole).toBe(true);
      expect(take(progress, text(2, 0, 'There'))).toEqual([]);
      const rest = 'Wait. '.slice(seen.join('').length);
      expect(read(progress, asked, looked)).toEqual([
        ...(rest === '' ? [] : [rest]),
        ...['tool_called', 'tool_returned', 'There'],
      ]);
      expect(progress.hasHole).toBe(false);
    },
  );

  it('holds the text of the next step when it has missed one of several calls', () => {
    const progress = new TurnProgress(turnId);
    const other = { ...call, callId: 'd' };
    for (const event of [text(1, 0, 'Wait. '), { ...called, count: 2 }, returned]) take(progress, event);
    expect(take(progress, text(2, 0, 'There'))).toEqual([]);
    const results = [result, { ...result, callId: 'd' }];
    const both = record(1, { content: 'Wait. ', toolCalls: [call, other], toolResults: results });
    expect(read(progress, asked, both)).toEqual(['tool_called', 'tool_returned', 'There']);
  });

  it('goes on live after it has read of a step that had no text', () => {
    const progress = new TurnProgress(turnId);
    const silent = record(1, { toolCalls: [call], toolResults: [result] });
    expect(read(progress, asked, silent)).toEqual(['tool_called', 'tool_returned']);
    expect(take(progress, text(2, 0, 'There.'))).toEqual(['There.']);
  });

  it('counts the offset of what it reads from the beginning of the turn', () => {
    const progress = new TurnProgress(turnId);
    const flight = { attempt: 1, position: 2, text: 'There' };
    const events = progress.read({ records: [asked, looked], flight, isOver: false });
    expect(events.at(-1)).toMatchObject({ content: 'There', offset: 0, before: 'Wait. '.length });
  });

  it('loses nothing when more pieces come behind a hole than it keeps', () => {
    const progress = new TurnProgress(turnId);
    for (let n = 0; n < 100_000; n++) take(progress, text(1, n + 1, 'x'));
    const flight = { attempt: 1, position: 1, text: 'x'.repeat(100_001) };
    const events = progress.read({ records: [asked], flight, isOver: false });
    expect(shown(events).join('')).toBe('x'.repeat(100_001));
    expect(progress.hasHole).toBe(false);
  });
});

describe('TurnProgress between two attempts', () => {
  function afterText(): TurnProgress {
    const progress = new TurnProgress(turnId);
    const flight = { attempt: 1, position: 1, text: 'One two' };
    expect(shown(progress.read({ records: [asked], flight, isOver: false }))).toEqual(['One two']);
    return progress;
  }
  const flight = (content: string) => ({ attempt: 2, position: 1, text: content });

  it('waits while the new attempt has said nothing', () => {
    const progress = afterText();
    expect(progress.begin(2)).toBe(false);
    expect(shown(progress.read({ records: [asked], flight: flight(''), isOver: false }))).toEqual([]);
    expect(progress.isContradicted).toBe(false);
  });

  it.each<[string, (progress: TurnProgress) => unknown]>([
    ['live text', (progress) => progress.takeText(text(1, 0, 'Two', 2))],
    ['live text from its middle', (progress) => progress.takeText(text(1, 7, ' three', 2))],
    ['a checkpoint', (progress) => progress.read({ records: [asked], flight: flight('One'), isOver: false })],
    [
      'the record of the step',
      (progress) => progress.read({ records: [asked, record(1, { content: 'One' })], isOver: false }),
    ],
    ['a record behind it', (progress) => read(progress, asked, record(2, { content: 'One two' }))],
    ['an end without it', (progress) => progress.read({ records: [asked], isOver: true })],
  ])('is contradicted by %s that does not continue what was shown', (_, happens) => {
    const progress = afterText();
    happens(progress);
    expect(progress.isContradicted).toBe(true);
  });

  it.each<[string, (progress: TurnProgress) => readonly TurnEvent[]]>([
    ['live text', (progress) => [progress.takeText(text(1, 0, 'One two three', 2))].filter(isThere)],
    [
      'a checkpoint',
      (progress) => progress.read({ records: [asked], flight: flight('One two three'), isOver: false }),
    ],
    [
      'the record of the step',
      (progress) =>
        progress.read({ records: [asked, record(1, { content: 'One two three' })], isOver: true }),
    ],
  ])('goes on with %s that continues exactly what was shown', (_, happens) => {
    const progress = afterText();
    expect(shown(happens(progress))).toEqual([' three']);
    expect(progress.isContradicted).toBe(false);
  });

  it('does not return text of an attempt behind which another one has begun', () => {
    const progress = new TurnProgress(turnId);
    expect(progress.begin(2)).toBe(true);
    expect(take(progress, text(1, 0, 'Old'))).toEqual([]);
    const old = { attempt: 1, position: 1, text: 'Old' };
    expect(shown(progress.read({ records: [asked], flight: old, isOver: false }))).toEqual([]);
    expect(progress.begin(1)).toBe(false);
  });

  it('does not take a call of another attempt for one that follows what was shown', () => {
    const progress = new TurnProgress(turnId);
    take(progress, text(1, 0, 'Later '));
    expect(take(progress, { ...called, attempt: 2 })).toEqual([]);
    expect(progress.hasHole).toBe(true);
    expect(read(progress, asked, looked)).toEqual([]);
    expect(progress.isContradicted).toBe(true);
  });
});

function isThere(event: Text | undefined): event is Text {
  return event !== undefined;
}
