import { expect, it } from '@jest/globals';
import { CallMemory } from '../../src/adapters/models/call-memory.js';
import { endParts, type FinishedAnswer } from '../../src/adapters/models/ending.js';
import { outlineOf } from '../../src/adapters/models/request-outline.js';
import type { RigPart } from '../../src/core/ports/rig.js';

const outline = outlineOf({ purpose: 'answer', instructions: '', messages: [], tools: [] }, {});
const usage = { inputTokens: 5, outputTokens: 100_000 };

/** The parts of a response that ends like this, and the error that ends it. */
function ended(answer: Partial<FinishedAnswer>): { parts: RigPart[]; error: unknown } {
  const parts: RigPart[] = [];
  try {
    const all = { reason: 'stop', usage, spoke: false, calls: [], ...answer } as const;
    for (const part of endParts(all, outline, new CallMemory().ofSession('m'))) parts.push(part);
    return { parts, error: undefined };
  } catch (error) {
    return { parts, error };
  }
}

it.each(['length', 'content-filter', 'error'] as const)(
  'a response without text that ends by %s fails, and has a usage',
  (reason) => {
    const { parts, error } = ended({ reason });
    expect(error).toBeInstanceOf(Error);
    expect(parts).toEqual([{ type: 'end', usage }]);
  },
);

it('a response that is cut off at its limit after some text is complete', () => {
  expect(ended({ reason: 'length', spoke: true })).toEqual({
    parts: [{ type: 'end', usage }],
    error: undefined,
  });
});

it('a response whose arguments are too long in all fails, and has a usage', () => {
  const input = JSON.stringify({ text: 'x'.repeat(400_000) });
  const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'look', input }));
  expect(ended({ reason: 'tool-calls', calls: calls.slice(1) }).error).toBeUndefined();
  const { parts, error } = ended({ reason: 'tool-calls', calls });
  expect(error).toMatchObject({ fault: 'unreadable', code: 'endless_call' });
  expect(parts).toEqual([{ type: 'end', usage }]);
});

it('arguments that would take long to parse fail only their call', () => {
  const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  const calls = [deep, '{"b":1}'].map((input, at) => ({ id: String(at), name: 'look', input }));
  const [first, second] = ended({ reason: 'tool-calls', calls }).parts;
  expect(first).toMatchObject({
    call: { args: {}, problem: expect.stringContaining('too many values or levels') },
  });
  expect(second).toMatchObject({ call: { args: { b: 1 } } });
});
