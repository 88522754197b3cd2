import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../../src/core/model/message.js';
import { newSession } from '../../../src/core/model/session.js';
import type { Rig } from '../../../src/core/ports/rig.js';
import { buildRequest } from '../../../src/core/rigs/build-request.js';
import { testApp } from '../../support/core.js';

const rig: Rig = {
  ...{ id: 'r', name: 'R', provider: 'test', contextTokens: 2_000 },
  respond: () => Promise.resolve(),
  attachedTokens: () => 0,
  check: () => Promise.resolve(undefined),
};

/** Messages of about 100 tokens each. */
const history = Array.from({ length: 30 }, (_, n): Message => ({
  ...{ id: String(n), turnId: String(n), turnNo: n + 1, position: 0, role: 'user' },
  ...{ content: 'word '.repeat(80), toolCalls: null, toolResults: null, createdAt: n },
}));

function countFor(over: Partial<Rig>): number {
  const parts = { app: testApp(), rig: { ...rig, ...over }, tools: [] };
  return buildRequest(parts, newSession('s', 0), [history]).messages.length;
}

/** A turn of two steps with calls of about 100 tokens each. */
function turnOfCalls(no: number): Message[] {
  const call = (n: number) => ({ callId: `${String(no)}.${String(n)}`, name: 'add', args: {} });
  const of = { turnId: String(no), turnNo: no, createdAt: 0 };
  const ask = { role: 'user', content: 'word '.repeat(80), toolCalls: null, toolResults: null } as const;
  return [
    { ...of, ...ask, id: `${String(no)}.0`, position: 0 },
    ...[1, 2].map((n): Message => ({
      ...{ ...of, id: call(n).callId, position: n, role: 'assistant', content: 'word '.repeat(60) },
      toolCalls: [call(n)],
      toolResults: [{ callId: call(n).callId, name: 'add', result: 3, failed: false, multiStep: false }],
    })),
  ];
}

describe('buildRequest', () => {
  it('leaves room for what the rig sends along with calls, of the running turn and of earlier ones', () => {
    const turns = Array.from({ length: 10 }, (_, n) => turnOfCalls(n + 1));
    const count = (attachedTokens: Rig['attachedTokens']): number => {
      const parts = { app: testApp(), rig: { ...rig, attachedTokens }, tools: [] };
      return buildRequest(parts, newSession('s', 0), turns).messages.length;
    };
    const asked: string[] = [];
    const plain = count((session, callId, isPast) => {
      asked.push(`${session} ${callId} ${String(isPast)}`);
      return 0;
    });
    expect(asked.slice(0, 3)).toEqual(['s 10.2 false', 's 10.1 false', 's 9.2 true']);
    const withReasoning = count((_session, _callId, isPast) => (isPast ? 0 : 300));
    const withSignatures = count((_session, _callId, isPast) => (isPast ? 300 : 0));
    expect([withReasoning < plain, withSignatures < plain]).toEqual([true, true]);
    // However long it is, the running turn is sent.
    expect(count(() => 1_000_000)).toBe(3);
  });

  it('leaves room for the longest response that the rig may give', () => {
    const quarter = countFor({});
    expect(countFor({ maxOutputTokens: 500 })).toBe(quarter);
    expect(countFor({ maxOutputTokens: 100 })).toBeGreaterThan(quarter);
    expect(countFor({ maxOutputTokens: 1_000 })).toBeLessThan(quarter);
    expect(countFor({ maxOutputTokens: 1_000 })).toBeGreaterThan(0);
  });
});
