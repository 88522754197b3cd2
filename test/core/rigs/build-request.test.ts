import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../../src/core/model/message.js';
import { newSession } from '../../../src/core/model/session.js';
import type { Rig } from '../../../src/core/ports/rig.js';
import { buildRequest } from '../../../src/core/rigs/build-request.js';
import { testApp } from '../../support/core.js';

const rig: Rig = {
  ...{ id: 'r', name: 'R', provider: 'test', contextTokens: 2_000 },
  respond: () => Promise.resolve(),
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

describe('buildRequest', () => {
  it('leaves room for the longest response that the rig may give', () => {
    const quarter = countFor({});
    expect(countFor({ maxOutputTokens: 500 })).toBe(quarter);
    expect(countFor({ maxOutputTokens: 100 })).toBeGreaterThan(quarter);
    expect(countFor({ maxOutputTokens: 1_000 })).toBeLessThan(quarter);
    expect(countFor({ maxOutputTokens: 1_000 })).toBeGreaterThan(0);
  });
});
