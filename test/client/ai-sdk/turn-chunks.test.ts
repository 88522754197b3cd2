import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isDiscarded } from '../../../src/client/ai-sdk/turn-chunks.js';
import type { SessionEvent, ToolProgress } from '../../../src/client/types.js';
import { chunksOf, messageOf, partsOf } from './chunks.js';

const start: SessionEvent = { type: 'turn_started', turnId: 'A' };
const text = (content: string): SessionEvent => ({ type: 'text', turnId: 'A', content });
const end = (status: 'complete' | 'interrupted' | 'failed', error?: string): SessionEvent => ({
  ...{ type: 'turn_ended', turnId: 'A', status },
  ...(error !== undefined && { error }),
});
const tool = (status: ToolProgress['status'], more: Partial<ToolProgress> = {}): ToolProgress => ({
  ...{ type: 'tool', callId: 'c1', name: 'add', status },
  ...more,
});
const own = { toolCallId: 'c1', dynamic: true, providerExecuted: true };

describe('TurnChunks', () => {
  it('emits text, a tool call with its result, and the end', () => {
    const events = [
      ...[start, text('Let me '), text('see.'), tool('running', { args: { a: 1 } })],
      ...[tool('complete', { result: '{"sum":2}' }), text('It is 2.'), end('complete')],
    ];
    expect(chunksOf(events)).toEqual([
      { type: 'start', messageId: 'A' },
      { type: 'text-start', id: 'text-1' },
      { type: 'text-delta', id: 'text-1', delta: 'Let me ' },
      { type: 'text-delta', id: 'text-1', delta: 'see.' },
      { type: 'text-end', id: 'text-1' },
      { type: 'tool-input-available', ...own, toolName: 'add', input: { a: 1 } },
      { type: 'tool-output-available', ...own, output: { sum: 2 } },
      { type: 'text-start', id: 'text-2' },
      { type: 'text-delta', id: 'text-2', delta: 'It is 2.' },
      { type: 'text-end', id: 'text-2' },
      { type: 'finish', finishReason: 'stop' },
    ]);
  });

  it('builds the message of the AI SDK', async () => {
    const events = [
      start,
      text('One.'),
      tool('complete', { result: 'plain' }),
      text('Two.'),
      end('complete'),
    ];
    const message = await messageOf(chunksOf(events));
    expect(message?.id).toBe('A');
    expect(partsOf(message)).toEqual(['One.', 'add({}) → "plain"', 'Two.']);
  });

  it.each([
    ['a failed turn', end('failed', 'No model'), [{ type: 'error', errorText: 'No model' }]],
    ['a failed turn without a reason', end('failed'), [{ type: 'error', errorText: 'The turn failed' }]],
    ['an interrupted turn', end('interrupted'), [{ type: 'abort' }]],
  ])('ends %s after its text', (_, ended, last) => {
    expect(chunksOf([start, text('Hm'), ended]).slice(-2)).toEqual([
      { type: 'text-end', id: 'text-1' },
      ...last,
    ]);
  });

  it('reports progress, the failure of a tool, and a call whose result never came', () => {
    const events = [
      ...[start, tool('running'), tool('running', { message: 'half way' })],
      ...[tool('failed', { result: 'uneven' }), tool('running', { callId: 'c2' }), end('interrupted')],
    ];
    expect(chunksOf(events).filter(({ type }) => type.startsWith('tool-output'))).toEqual([
      { type: 'tool-output-available', ...own, output: 'half way', preliminary: true },
      { type: 'tool-output-error', ...own, errorText: 'uneven' },
      {
        ...{ type: 'tool-output-error', ...own, toolCallId: 'c2' },
        errorText: 'The turn ended before the tool returned a result',
      },
    ]);
  });

  it('marks replaced text as discarded and keeps the text before it', async () => {
    const events = [
      ...[start, text('First. '), tool('complete', { result: '1' }), text('Old words')],
      ...[start, text('First. Old times'), text(' are new'), end('complete')],
    ];
    const message = await messageOf(chunksOf(events));
    expect(partsOf(message)).toEqual(['First. ', 'add({}) → 1', 'Old times are new']);
    expect(message?.parts.filter(isDiscarded)).toMatchObject([{ text: 'Old words' }]);
  });

  it('discards what another attempt has left out', async () => {
    const message = await messageOf(chunksOf([start, text('Yes, but'), start, text('Yes'), end('complete')]));
    expect(partsOf(message)).toEqual(['Yes']);
  });

  it('passes on the title and notices, and nothing after the end', () => {
    const title: SessionEvent = { type: 'title', title: 'Sums' };
    const notice: SessionEvent = { type: 'notice', message: 'Slow' };
    expect(chunksOf([start, title, notice, end('complete'), text('late')]).slice(1)).toEqual([
      { type: 'data-title', data: 'Sums', transient: true },
      { type: 'data-notice', data: 'Slow', transient: true },
      { type: 'finish', finishReason: 'stop' },
    ]);
  });
});

/** A step of a reply: its text, and the calls that follow it. */
interface Step {
  readonly text: string;
  readonly calls: number;
}

const steps = fc.array(fc.record({ text: fc.string({ maxLength: 12 }), calls: fc.nat(2) }), { maxLength: 4 });
const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });

/** Cuts text into pieces of these lengths, in rotation. */
function cut(whole: string, lengths: readonly number[]): SessionEvent[] {
  const events: SessionEvent[] = [];
  for (let from = 0, n = 0; from < whole.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    events.push(text(whole.slice(from, from + length)));
    from += length;
  }
  return events;
}

/** The events of a turn without any replay. */
function eventsOf(reply: readonly Step[], lengths: readonly number[]): SessionEvent[] {
  return reply.flatMap((step, n) => {
    const ids = Array.from({ length: step.calls }, (_, index) => `c${String(n)}.${String(index)}`);
    return [
      ...cut(step.text, lengths),
      ...ids.map((callId) => tool('running', { callId })),
      ...ids.map((callId) => tool('complete', { callId, result: callId })),
    ];
  });
}

const joined = (events: readonly SessionEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.content : '')).join('');

describe('the chunks of any turn', () => {
  const replays = fc.array(fc.record({ at: fc.nat(40), lengths: cuts, withTools: fc.boolean() }), {
    maxLength: 4,
  });

  it('have each character and each call once, whatever is replayed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, cuts, replays, async (reply, lengths, again) => {
        const events = eventsOf(reply, lengths);
        const told: SessionEvent[] = [start];
        events.forEach((event, index) => {
          told.push(event);
          for (const { at, lengths: other, withTools } of again) {
            if (at % events.length !== index) continue;
            const before = events.slice(0, index + 1);
            const noise = before.filter(({ type }) => withTools && type === 'tool');
            told.push({ type: 'connection', state: 'lost' }, { type: 'connection', state: 'open' });
            told.push(...noise, start, ...cut(joined(before), other));
          }
        });
        const chunks = chunksOf([...told, end('complete')]);
        const deltas = chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
        expect(deltas).toBe(joined(events));
        const tools = chunks.flatMap((chunk) =>
          'toolCallId' in chunk ? [`${chunk.type} ${chunk.toolCallId}`] : [],
        );
        expect(tools).toEqual([...new Set(tools)]);
        expect(partsOf(await messageOf(chunks))).toEqual(
          partsOf(await messageOf(chunksOf([start, ...eventsOf(reply, [1_000]), end('complete')]))),
        );
      }),
    );
  });

  it('show the text of the last attempt at the unfinished step', async () => {
    const attempts = fc.array(fc.string({ maxLength: 10 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 10 }), attempts, cuts, async (stored, tries, lengths) => {
        const first = [...cut(stored, lengths), tool('complete', { result: '1' })];
        const retold = tries.slice(1).flatMap((attempt) => [start, ...cut(stored + attempt, lengths)]);
        const events = [start, ...first, ...cut(tries[0] ?? '', lengths), ...retold, end('complete')];
        const parts = partsOf(await messageOf(chunksOf(events)));
        const words = parts.filter((part) => part !== 'add({}) → 1').join('');
        expect(words).toBe(stored + (tries.at(-1) ?? ''));
      }),
    );
  });
});
