import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resultText, type Message } from '../../src/core/model/message.js';
import type { Snapshot } from '../../src/core/model/snapshot.js';
import {
  createMessageEncoder,
  encodeMessages,
  encodeRecord,
  KeptEncodings,
} from '../../src/surfaces/shared/messages.js';
import { fakeSnapshot } from '../support/fake-core.js';

const ARRAY = { start: Buffer.from('['), end: ']' };

let n = 0;
function record(fields: Partial<Message>): Message {
  n++;
  const place = { id: String(n), turnId: 't', turnNo: 1, position: n };
  return { ...place, role: 'user', content: '', toolCalls: null, toolResults: null, createdAt: n, ...fields };
}

/** What the snapshot says, put together without any cache. */
function plainly({ settled, settledCount, open }: Snapshot): unknown[] {
  const shown = (sender: string, content: string, at: number, streaming: boolean, tool: unknown) => ({
    ...{ sender, content, timestamp: new Date(at).toISOString() },
    ...{ is_streaming: streaming, tool_result: tool },
  });
  const records = (list: readonly Message[]) =>
    list.flatMap(({ role, content, createdAt, toolResults }) => [
      ...(role === 'assistant' && content === ''
        ? []
        : [shown(role === 'assistant' ? 'agent' : role, content, createdAt, false, null)]),
      ...(toolResults ?? []).map(({ name, result, at = createdAt }) =>
        shown('agent', '', at, false, [name, resultText(result)]),
      ),
    ]);
  const turns = open.flatMap(({ messages, streaming }) => [
    ...records(messages),
    ...(streaming === null ? [] : [shown('agent', streaming.text, streaming.since, true, null)]),
  ]);
  return [...records(settled.slice(0, settledCount)), ...turns];
}

const message = fc
  .record({
    role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
    content: fc.string({ unit: 'grapheme' }),
    results: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 2 }),
    at: fc.option(fc.nat(), { nil: undefined }),
  })
  .map(({ role, content, results, at }) => {
    const toolResults = results.map((result) => ({
      ...{ callId: 'c', name: 'tool', result },
      ...{ failed: false, multiStep: false },
      ...(at !== undefined && { at }),
    }));
    return record({ role, content, ...(role === 'assistant' ? { toolResults } : {}) });
  });

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString();
}

/** An encoder that keeps so many bytes. `encoded`: the contents of the records that it has encoded, in order. */
function recordingEncoder(maxBytes: number) {
  const encoded: string[] = [];
  const encodeOne = (message: Message) => {
    encoded.push(message.content);
    return encodeRecord(message);
  };
  const encode = createMessageEncoder(encodeOne, ({ skipped }) => skipped, new KeptEncodings(maxBytes));
  return { encode, encoded };
}

describe('the messages of a snapshot', () => {
  it('are the same as without a cache, however the thread grows and whatever tail is asked for', () => {
    const open = fc.record({
      messages: fc.array(message, { maxLength: 3 }),
      streaming: fc.option(fc.record({ text: fc.string(), since: fc.nat() })),
    });
    const step = fc.record({
      added: fc.array(message, { maxLength: 4 }),
      later: fc.array(message, { maxLength: 2 }),
      open: fc.array(open, { maxLength: 2 }),
      tail: fc.nat(12),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const settled: Message[] = [];
        for (const { added, later, open: turns, tail } of steps) {
          settled.push(...added);
          const snapshot = fakeSnapshot({ settled, open: turns });
          // What settles between the taking of a snapshot and its encoding is not in it.
          settled.push(...later);
          const whole = encodeMessages(snapshot, ARRAY);
          const expected = plainly(snapshot);
          expect(JSON.parse(textOf(whole.json))).toEqual(expected);
          expect(whole.total).toBe(expected.length);
          const last = encodeMessages(snapshot, ARRAY, tail);
          expect(JSON.parse(textOf(last.json))).toEqual(tail === 0 ? [] : expected.slice(-tail));
          expect(last.total).toBe(expected.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are encoded once each', () => {
    let reads = 0;
    const counted = (): Message => ({
      ...record({}),
      get content() {
        reads++;
        return 'Hello';
      },
    });
    const settled = [counted(), counted()];
    encodeMessages(fakeSnapshot({ settled }), ARRAY);
    const once = reads;
    encodeMessages(fakeSnapshot({ settled }), ARRAY);
    expect(reads).toBe(once);
    settled.push(counted());
    encodeMessages(fakeSnapshot({ settled }), ARRAY);
    expect(reads).toBe(once * 1.5);
  });

  it('are encoded again once those of other threads have taken the memory, and read the same', () => {
    const { encode, encoded } = recordingEncoder(2_000);
    const threads = ['a', 'b', 'c'].map((name) => [record({ content: name.repeat(300) })]);
    const show = (n: number) => textOf(encode(fakeSnapshot({ settled: threads[n] ?? [] }), ARRAY).json);
    const names = () => encoded.splice(0).map((content) => content[0]);
    const first = show(0);
    for (const n of [1, 0, 1]) show(n);
    expect(names()).toEqual(['a', 'b']);
    for (const n of [2, 1]) show(n);
    expect(names()).toEqual(['c']);
    expect(show(0)).toBe(first);
    expect(names()).toEqual(['a']);
    show(2);
    expect(names()).toEqual(['c']);
  });

  it('count against the memory even where a thread is empty', () => {
    const { encode, encoded } = recordingEncoder(10_000);
    const first = fakeSnapshot({ settled: [record({ content: 'one' })] });
    encode(first, ARRAY);
    for (let n = 0; n < 50; n++) encode(fakeSnapshot({ settled: [] }), ARRAY);
    encode(first, ARRAY);
    expect(encoded).toHaveLength(2);
  });

  it('are dropped once their thread is gone', async () => {
    const kept = new KeptEncodings(1_000_000);
    const encode = createMessageEncoder(encodeRecord, ({ skipped }) => skipped, kept);
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc') as () => void;
    (() => encode(fakeSnapshot({ settled: [record({ content: 'x'.repeat(1_000) })] }), ARRAY))();
    expect(kept.bytes).toBeGreaterThan(1_000);
    while (kept.bytes > 0) {
      collect();
      await new Promise(setImmediate);
    }
  });

  it('are kept while they are in use, whatever their size', () => {
    const { encode, encoded } = recordingEncoder(100);
    const snapshot = fakeSnapshot({ settled: [record({ content: 'x'.repeat(1_000) })] });
    for (let n = 0; n < 3; n++) encode(snapshot, ARRAY);
    expect(encoded).toHaveLength(1);
  });

  it('leaves earlier answers as they were when the thread grows', () => {
    const settled = [record({ content: 'one' })];
    const { json } = encodeMessages(fakeSnapshot({ settled }), ARRAY);
    const before = textOf(json);
    for (let i = 0; i < 50; i++) {
      settled.push(record({ content: `more ${String(i)}` }));
      encodeMessages(fakeSnapshot({ settled }), ARRAY);
    }
    expect(textOf(json)).toBe(before);
  });
});
