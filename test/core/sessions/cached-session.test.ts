import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../../src/core/model/message.js';
import { newSession } from '../../../src/core/model/session.js';
import type { Turn } from '../../../src/core/model/turn.js';
import type { StoredThread } from '../../../src/core/ports/stored-thread.js';
import { CachedSession } from '../../../src/core/sessions/cached-session.js';

const SESSION = { ...newSession('s', 0), revision: 5 };

function turnOf(no: number, status: Turn['status']): Turn {
  return {
    ...{ id: `t${String(no)}`, sessionId: 's', no, app: 'default', clientId: null, keyId: null },
    ...{ status, error: null, createdAt: 0 },
  };
}

function recordOf(no: number): Message {
  return {
    ...{
      id: `m${String(no)}`,
      turnId: `t${String(no)}`,
      turnNo: no,
      position: 0,
      role: 'user',
      createdAt: 0,
    },
    ...{ content: `question ${String(no)}`, toolCalls: null, toolResults: null },
  };
}

/** A read at revision 5: the first turn has ended, the second one runs, the third one was cancelled behind it. */
function readOf(part: Pick<StoredThread, 'settled' | 'continues'>): StoredThread {
  const open = { turn: turnOf(2, 'running'), messages: [recordOf(2)], partialText: '', partialSince: 0 };
  return { session: SESSION, skipped: 0, skippedFailures: 0, open: [open], faults: [], ...part };
}

function idsOf({ settled, open }: CachedSession): string[] {
  return [...settled, ...open.flatMap(({ messages }) => messages)].map(({ id }) => id);
}

describe('CachedSession', () => {
  it('has each message once after a read that is older than the end of a turn', () => {
    const thread = new CachedSession(SESSION, 0);
    thread.reset(readOf({ settled: [recordOf(1), recordOf(3)], continues: false }), 0);
    const { weight } = thread;
    // A read of the turns after the first one begins, and the second one ends before it returns.
    thread.stale = true;
    thread.apply({ revision: 6, events: [] }, () => {
      thread.endTurns([turnOf(2, 'complete')]);
    });
    expect(idsOf(thread)).toEqual(['m1', 'm2', 'm3']);
    const { settled: shared } = thread;
    thread.reset(readOf({ settled: [recordOf(3)], continues: true }), 0);
    expect(idsOf(thread)).toEqual(['m1', 'm2', 'm3']);
    expect([thread.open.length, thread.stale, thread.weight]).toEqual([2, true, weight]);
    expect(shared.map(({ id }) => id)).toEqual(['m1', 'm2', 'm3']);
  });
});
