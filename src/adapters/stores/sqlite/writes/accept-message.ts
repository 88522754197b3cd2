import type { Database } from 'better-sqlite3';
import type { Acceptance, Accepted, Interruption } from '../../../../core/ports/store.js';
import type { EventTable } from '../rows/event-table.js';
import { toTurn } from '../rows/turn-rows.js';
import { toSession, type SessionRow } from '../rows/session-row.js';
import { setFields, type SessionTable } from '../rows/session-table.js';
import type { Handlers } from '../steps.js';
import type { TurnTable } from '../rows/turn-table.js';
import { createIdempotencyKeys } from './idempotency-keys.js';
import { countTurn, insertTurn } from './new-turn.js';
import type { QuotaTable } from '../rows/quota-table.js';

/** The tables that accepting a message writes to. */
export interface Tables {
  readonly sessions: SessionTable;
  readonly turns: TurnTable;
  readonly events: EventTable;
  readonly uses: QuotaTable;
}

type OpenTurns = ReturnType<TurnTable['countOpen']>;

const NONE_OPEN: OpenTurns = { queued: 0, isRunning: false };
const NOTHING_MET: Interruption = { cancelled: [], running: null };

/** Ends the queued turns of a session as interrupted, in order, and requests cancellation of the running one. */
export function cancelTurns(turns: TurnTable, session: number, at: number): Interruption {
  const cancelled = turns.findQueued(session).map((row) => {
    const usage = { input_tokens: 0, output_tokens: 0, shown_tokens: 0 };
    turns.end({ ref: row.ref, status: 'interrupted', ended_at: at, error: null, rig: null, ...usage });
    return toTurn({ ...row, status: 'interrupted' });
  });
  const running = turns.findRunning(session);
  if (running === undefined) return { cancelled, running: null };
  turns.requestCancel(running);
  return { cancelled, running: toTurn(running) };
}

/** Creates the `acceptMessage` step. */
export function createAccept(
  db: Database,
  { sessions, turns, events, uses }: Tables,
): Handlers['acceptMessage'] {
  const keys = createIdempotencyKeys(db);

  /** Checks the idempotency key and the expected version. Undefined: neither refuses the message. */
  function refuse(live: SessionRow | undefined, asked: Acceptance): Accepted | undefined {
    if (live !== undefined && asked.idempotency !== null) {
      const used = keys.find(live.ref, asked.idempotency);
      if (used === 'other') return { kind: 'key_reused' };
      if (used !== undefined) return { kind: 'repeated', turnId: used.createdId };
    }
    return asked.ifVersion === (live?.version ?? 0) ? undefined : { kind: 'stale' };
  }

  function refuseSize(live: SessionRow | undefined, asked: Acceptance, size: number): Accepted | undefined {
    const bytes = live?.text_bytes ?? 0;
    return bytes + size > asked.maxSessionBytes ? { kind: 'full', bytes } : undefined;
  }

  function refuseBusy({ queued, isRunning }: OpenTurns, asked: Acceptance): Accepted | undefined {
    if (asked.busy === 'interrupt' || (queued === 0 && !isRunning)) return undefined;
    if (asked.busy === 'reject') return { kind: 'busy' };
    return queued >= asked.maxQueued ? { kind: 'queue_full' } : undefined;
  }

  function refuseUse({ quotas }: Acceptance): Accepted | undefined {
    const quota = uses.findExhausted(quotas);
    return quota && { kind: 'over_quota', quota };
  }

  return (asked) => {
    const { row, created } = sessions.open(asked.sessionId, asked.at);
    const live = created ? undefined : row;
    const unfit = refuse(live, asked);
    if (unfit !== undefined) return unfit;
    const open = live === undefined ? NONE_OPEN : turns.countOpen(live.ref);
    const size = Buffer.byteLength(asked.text);
    const refusal = refuseSize(live, asked, size) ?? refuseBusy(open, asked) ?? refuseUse(asked);
    if (refusal !== undefined) return refusal;

    const { turnId, messageId, app, clientId, keyId, text, at, idempotency } = asked;
    const makesRoom = asked.busy === 'interrupt' && (open.queued > 0 || open.isRunning);
    const interruption = makesRoom ? cancelTurns(turns, row.ref, at) : NOTHING_MET;
    const changed = setFields(row, { ...asked.set, app }) || created;
    if (changed) row.version += 1;
    row.interrupted = 0;
    countTurn(row, size, at);
    const commit = events.commit(row, [], at);
    if (changed) sessions.save(row);
    else sessions.saveCounters(row);

    // The turn starts now only if no turn runs and none is queued before it.
    const isNext = !open.isRunning && (open.queued === 0 || makesRoom);
    const { turn, message, claimed } = insertTurn(
      turns,
      row,
      { id: turnId, app, clientId, keyId, createdAt: at },
      { first: { id: messageId, role: 'user', content: text }, lease: isNext ? asked.claim : null },
    );
    for (const quota of asked.quotas) if (quota.measure === 'turns') uses.add({ ...quota, amount: 1 });
    if (idempotency !== null) keys.put(row.ref, idempotency, turnId, at);
    const session = toSession(row);
    return { kind: 'accepted', session, created, turn, message, claimed, interruption, commit };
  };
}
