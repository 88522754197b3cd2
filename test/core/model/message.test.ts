import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  byOrder,
  closeCalls,
  danglingCalls,
  type Message,
  resultText,
  type ToolCall,
  type ToolResult,
} from '../../../src/core/model/message.js';

function record(fields: Partial<Message>): Message {
  const base = { id: 'm', turnId: 't', turnNo: 1, position: 0, content: '', createdAt: 0 };
  return { ...base, role: 'assistant', toolCalls: null, toolResults: null, ...fields };
}

function call(callId: string): ToolCall {
  return { callId, name: `tool ${callId}`, args: {} };
}

function result(callId: string): ToolResult {
  return { callId, name: `tool ${callId}`, result: 1, failed: false, multiStep: false };
}

describe('dangling calls', () => {
  it('are those without a result', () => {
    const message = record({ toolCalls: [call('a'), call('b'), call('c')], toolResults: [result('b')] });
    expect(danglingCalls(message).map(({ callId }) => callId)).toEqual(['a', 'c']);
    expect(danglingCalls(record({ toolCalls: [call('a')] }))).toHaveLength(1);
    expect(danglingCalls(record({}))).toEqual([]);
  });

  it('are closed with the given words, after the results that are there', () => {
    const message = record({ toolCalls: [call('a'), call('b')], toolResults: [result('b')] });
    expect(closeCalls(message, 'interrupted', 5).toolResults).toEqual([
      result('b'),
      { callId: 'a', name: 'tool a', result: 'interrupted', failed: true, multiStep: false, at: 5 },
    ]);
    expect(message.toolResults).toHaveLength(1);
  });

  it('leave the very same record when there is none', () => {
    const message = record({ toolCalls: [call('a')], toolResults: [result('a')] });
    expect(closeCalls(message, 'x', 5)).toBe(message);
  });

  it('are gone once closed', () => {
    const ids = fc.uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(ids, fc.func(fc.boolean()), (callIds, isAnswered) => {
        const answered = callIds.filter((id) => isAnswered(id));
        const closed = closeCalls(
          record({ toolCalls: callIds.map(call), toolResults: answered.map(result) }),
          'words',
          5,
        );
        expect(danglingCalls(closed)).toEqual([]);
        expect(closed.toolResults?.map(({ callId }) => callId).sort()).toEqual([...callIds].sort());
      }),
    );
  });
});

describe('the text of a result', () => {
  it('is a string as it is and anything else as JSON', () => {
    expect(resultText('a "b"')).toBe('a "b"');
    expect(resultText({ a: [1, null] })).toBe('{"a":[1,null]}');
    expect(resultText(null)).toBe('null');
  });
});

describe('the order of a thread', () => {
  it('is by turn, then by position, as numbers', () => {
    const places = [
      [10, 0],
      [2, 11],
      [2, 2],
      [1, 0],
    ] as const;
    const sorted = places.map(([turnNo, position]) => record({ turnNo, position })).sort(byOrder);
    expect(sorted.map(({ turnNo, position }) => [turnNo, position])).toEqual([...places].reverse());
  });
});
