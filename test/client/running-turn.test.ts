import { describe, expect, it } from '@jest/globals';
import type { CurrentCalls } from '../../src/client/current/calls.js';
import { readThread } from '../../src/client/current/running-turn.js';
import type { HistoryMessage, HistoryPage, SessionState } from '../../src/client/types.js';

const REPORT = 'The wallet reported success for request 1 (Lunch), transaction 0x1; not verified yet.';
const at = (second: number): string => new Date(second * 1000).toISOString();

/** Returns the state of a running turn. */
function stateOf(...messages: readonly (readonly ['user' | 'system', string])[]): SessionState {
  const shown = messages.map(([sender, content], index) => ({
    ...{ sender, content, timestamp: at(index), isStreaming: false, toolResult: null },
  }));
  return { title: null, status: 'processing', messages: shown, userState: null, errors: [], raw: {} };
}

/** Returns a page of messages, each of which began a turn that has not ended. */
function pageOf(...stored: readonly (readonly ['user' | 'system', string])[]): HistoryPage {
  const messages = stored.map(([role, content], index): HistoryMessage => {
    const id = String(index);
    return { id, turnId: id, role, content, toolCalls: [], createdAt: at(index) };
  });
  const turns = messages.map(({ turnId, createdAt }) => ({
    ...{ turnId, status: 'running' as const, rig: null, inputTokens: 0, outputTokens: 0 },
    ...{ error: null, createdAt, endedAt: null },
  }));
  return { messages, turns, hasMore: false };
}

describe('readThread', () => {
  it('reads the state again if a wallet report arrived after the first read', async () => {
    const states = [stateOf(['user', 'Pay']), stateOf(['user', 'Pay'], ['system', REPORT])];
    const calls = {
      state: () => Promise.resolve(states.shift()),
      historyPage: () => Promise.resolve(pageOf(['user', 'Pay'], ['system', REPORT])),
    } as unknown as CurrentCalls;
    const { running } = await readThread(calls, 10);
    expect(running).toEqual({ turnId: '0', ordinal: 1 });
  });
});
