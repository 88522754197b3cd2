import type { Database } from 'better-sqlite3';
import type { Acceptance, Accepted, Interruption } from '../../core/store.js';
import type { EventTable } from './event-table.js';
import { toSession, toTurn, type SessionRow } from './rows.js';
import { setFields, type SessionTable } from './session-table.js';
import type { Handlers } from './steps.js';
import type { TurnTable } from './turn-table.js';
import type { UseTable } from './use-table.js';

/** The tables that a message touches. */
export interface Tables {
  readonly sessions: SessionTable;
  readonly turns: TurnTable;
  readonly events: EventTable;
  readonly uses: UseTable;
}

interface UsedKey {
  readonly fingerprint: string;
  readonly turn_id: string;
  readonly created_at: number;
}

/** Ends what waits in a session as interrupted, in order, and marks what runs. */
export function cancelTurns(turns: TurnTable, session: number, at: number): Interruption {
  const cancelled = turns.findQueued(session, -1).map((row) => {
    const usage = { input_tokens: 0, output_tokens: 0, shown_tokens: 0 };
    turns.end({ ref: row.ref, status: 'interrupted', ended_at: at, error: null, rig: null, ...usage });
    return toTurn({ ...row, status: 'interrupted' });
  });
  const running = turns.findRunning(session);
  if (running === undefined) return { cancelled, running: null };
  turns.requestCancel(running);
  return { cancelled, running: toTurn(running) };
}

/** The step that takes a message. */
export function createAccept(
  db: Database,
  { sessions, turns, events, uses }: Tables,
): Handlers['acceptMessage'] {
  const findKey = db.prepare<[number, string], UsedKey>(
    'SELECT fingerprint, turn_id, created_at FROM idempotency_keys WHERE session = ? AND key = ?',
  );
  const putKey = db.prepare<[number, string, string, string, number]>(
    'INSERT OR REPLACE INTO idempotency_keys (session, key, fingerprint, turn_id, created_at) VALUES (?, ?, ?, ?, ?)',
  );

  /** Why a message is not taken; undefined: it is. */
  function refuse(live: SessionRow | undefined, asked: Acceptance): Accepted | undefined {
    if (live !== undefined && asked.idempotency !== null) {
      const { key, fingerprint, notBefore } = asked.idempotency;
      const used = findKey.get(live.ref, key);
      if (used !== undefined && used.created_at >= notBefore) {
        if (used.fingerprint === fingerprint) return { kind: 'repeated', turnId: used.turn_id };
        return { kind: 'key_reused' };
      }
    }
    if (asked.ifVersion !== (live?.version ?? 0)) return { kind: 'stale' };
    return refuseBusy(live, asked) ?? refuseUse(asked);
  }

  function refuseUse({ quotas }: Acceptance): Accepted | undefined {
    const quota = uses.findExhausted(quotas);
    return quota && { kind: 'over_quota', quota };
  }

  function refuseBusy(live: SessionRow | undefined, asked: Acceptance): Accepted | undefined {
    if (live === undefined || asked.busy === 'interrupt') return undefined;
    const queued = turns.countQueued(live.ref);
    if (queued === 0 && turns.findRunning(live.ref) === undefined) return undefined;
    if (asked.busy === 'reject') return { kind: 'busy' };
    return queued >= asked.maxQueued ? { kind: 'queue_full' } : undefined;
  }

  return (asked) => {
    const live = sessions.findLive(asked.sessionId);
    const refusal = refuse(live, asked);
    if (refusal !== undefined) return refusal;

    const { turnId, messageId, app, clientId, keyId, text, at, idempotency } = asked;
    const { row, created } =
      live === undefined ? sessions.ensure(asked.sessionId, at) : { row: live, created: false };
    const interruption: Interruption =
      asked.busy === 'interrupt' ? cancelTurns(turns, row.ref, at) : { cancelled: [], running: null };
    const changed = setFields(row, { ...asked.set, app });
    if (changed || created) row.version += 1;
    row.interrupted = 0;
    row.active_at = Math.max(row.active_at, at);
    row.last_turn_no += 1;
    const no = row.last_turn_no;

    turns.insert(row.ref, { id: turnId, no, app, clientId, keyId, createdAt: at });
    for (const quota of asked.quotas) if (quota.measure === 'turns') uses.add({ ...quota, amount: 1 });
    const message = {
      ...{ id: messageId, turnId, turnNo: no, position: 0, role: 'user' as const, content: text },
      ...{ toolCalls: null, toolResults: null, createdAt: at },
    };
    turns.putMessages(row.ref, no, [message]);
    if (idempotency !== null) putKey.run(row.ref, idempotency.key, idempotency.fingerprint, turnId, at);

    // Not when others wait before it: a turn never overtakes.
    const [head] = turns.findQueued(row.ref, 1);
    const isNext = head?.id === turnId && turns.findRunning(row.ref) === undefined;
    const claimed = isNext && asked.claim !== null ? turns.claim(head, asked.claim, 0) : null;
    const commit = events.commit(row, [], at);
    sessions.save(row);
    const status = claimed === null ? ('queued' as const) : ('running' as const);
    const turn = {
      id: turnId,
      sessionId: row.id,
      no,
      app,
      clientId,
      keyId,
      status,
      createdAt: at,
      error: null,
    };
    return {
      kind: 'accepted',
      session: toSession(row),
      created,
      turn,
      message,
      claimed,
      interruption,
      commit,
    };
  };
}
