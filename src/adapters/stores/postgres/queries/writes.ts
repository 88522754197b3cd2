import type { Quota } from '../../../../core/model/quota.js';
import { PLACEHOLDER_TITLE } from '../../../../core/model/session.js';
import type { Commit } from '../../../../core/model/event.js';
import type { Store } from '../../../../core/ports/store.js';
import type { Bindable, Run, Statement } from '../connections.js';
import {
  toClaimedTurn,
  toEventLists,
  toFields,
  toLogged,
  toQuotas,
  toRecords,
  toSession,
  toTurn,
  toUses,
  type SessionRow,
  type TurnRow,
} from '../rows.js';

/** The session's counters after a write. */
interface Counters {
  readonly revision: number;
  readonly last_event_id: number;
}

type Saved =
  | { readonly kind: 'missing' | 'stale' }
  | { readonly kind: 'saved'; readonly created: boolean; readonly session: SessionRow };

interface Cancelled {
  readonly cancelled: readonly TurnRow[];
  readonly running: TurnRow | null;
}

type Accepted =
  | { readonly kind: 'key_reused' | 'stale' | 'busy' | 'queue_full' }
  | { readonly kind: 'repeated'; readonly turn_id: string }
  | { readonly kind: 'full'; readonly bytes: number }
  | { readonly kind: 'over_quota'; readonly quota_no: number }
  | (Cancelled & {
      readonly kind: 'accepted';
      readonly created: boolean;
      readonly session: SessionRow;
      readonly turn: TurnRow;
    });

/** Builds the statement that calls an SQL function with `count` parameters. */
export function callOf(name: string, count: number): Statement {
  const places = Array.from({ length: count }, (_, index) => `$${String(index + 1)}`).join(', ');
  return { name, text: `SELECT ${name}(${places}) AS result` };
}

const SAVE_SESSION = callOf('save_session', 10);
const APPEND_EVENTS = callOf('append_events', 4);
const ACCEPT_MESSAGE = callOf('accept_message', 21);
const INTERRUPT_TURNS = callOf('interrupt_turns', 2);
const COUNT_REQUEST = callOf('count_request', 1);
const SAVE_PROGRESS = callOf('save_progress', 10);
const END_TURN = callOf('end_turn', 17);

type WriteName =
  | 'saveSession'
  | 'appendEvents'
  | 'acceptMessage'
  | 'interruptTurns'
  | 'saveProgress'
  | 'endTurn'
  | 'countRequest';

/** Writes to a session. Each is a single statement. */
export function createWrites(run: Run): Pick<Store, WriteName> {
  async function call<R>(statement: Statement, values: readonly Bindable[]): Promise<R> {
    const [row] = await run<{ result: R }>(statement, values);
    if (row === undefined) throw new Error(`${statement.name} returned no row`);
    return row.result;
  }

  return {
    async saveSession({ id, ifMissing, ifVersion, set, events, isActivity, at }) {
      const saved = await call<Saved>(SAVE_SESSION, [
        ...[id, ifMissing === 'create', ifVersion ?? null, PLACEHOLDER_TITLE, ...toFields(set)],
        ...[...toEventLists(events), isActivity, at],
      ]);
      if (saved.kind !== 'saved') return { kind: saved.kind };
      const session = toSession(saved.session);
      const { revision, lastEventId } = session;
      const commit: Commit = { revision, events: toLogged(events, lastEventId, at) };
      return { kind: 'saved', session, created: saved.created, commit };
    },

    async appendEvents(id, events, at) {
      const counters = await call<Counters | null>(APPEND_EVENTS, [id, ...toEventLists(events), at]);
      if (counters === null) return undefined;
      return { revision: counters.revision, events: toLogged(events, counters.last_event_id, at) };
    },

    async acceptMessage(asked) {
      const { sessionId, idempotency, claim, at } = asked;
      const accepted = await call<Accepted>(ACCEPT_MESSAGE, [
        ...[sessionId, asked.ifVersion, PLACEHOLDER_TITLE, ...toFields({ ...asked.set, app: asked.app })],
        ...[asked.turnId, asked.messageId, asked.text, asked.app, asked.clientId, asked.keyId],
        ...[idempotency?.key ?? null, idempotency?.fingerprint ?? null, idempotency?.notBefore ?? null],
        ...[asked.busy, asked.maxQueued, toQuotas(asked.quotas)],
        ...[claim?.owner ?? null, claim?.milliseconds ?? null, at, asked.maxSessionBytes],
      ]);
      if (accepted.kind === 'full') return accepted;
      if (accepted.kind === 'repeated') return { kind: 'repeated', turnId: accepted.turn_id };
      if (accepted.kind === 'over_quota') {
        return { kind: 'over_quota', quota: quotaAt(asked.quotas, accepted.quota_no) };
      }
      if (accepted.kind !== 'accepted') return { kind: accepted.kind };
      const session = toSession(accepted.session);
      const turn = toTurn(accepted.turn, sessionId);
      const { id: turnId, no: turnNo } = turn;
      return {
        kind: 'accepted',
        session,
        created: accepted.created,
        turn,
        message: {
          ...{ id: asked.messageId, turnId, turnNo, position: 0, role: 'user', content: asked.text },
          ...{ toolCalls: null, toolResults: null, createdAt: at },
        },
        claimed:
          turn.status === 'running' && claim !== null
            ? toClaimedTurn(accepted.turn, sessionId, claim.owner)
            : null,
        interruption: toInterruption(accepted, sessionId),
        commit: { revision: session.revision, events: [] },
      };
    },

    async interruptTurns(sessionId, at) {
      const done = await call<(Cancelled & { readonly revision: number }) | null>(INTERRUPT_TURNS, [
        sessionId,
        at,
      ]);
      if (done === null) return undefined;
      return { ...toInterruption(done, sessionId), commit: { revision: done.revision, events: [] } };
    },

    async saveProgress(turn, { messages, events, partialText, partialSince = 0 }, at) {
      const counters = await call<Counters | null>(SAVE_PROGRESS, [
        ...[turn.sessionId, turn.id, turn.owner, turn.attempt],
        ...[toRecords(messages), ...toEventLists(events), partialText, at, partialSince],
      ]);
      if (counters === null) return 'lost';
      return { revision: counters.revision, events: toLogged(events, counters.last_event_id, at) };
    },

    async endTurn(turn, ending) {
      const { outcome, messages, events, error, rig, usage, shownTokens, uses, claimNext, at } = ending;
      const ended = await call<(Counters & { readonly next: TurnRow | null }) | null>(END_TURN, [
        ...[turn.sessionId, turn.id, turn.owner, turn.attempt],
        ...[outcome, error, rig, usage.inputTokens, usage.outputTokens, shownTokens, toUses(uses)],
        ...[toRecords(messages), ...toEventLists(events)],
        ...[claimNext?.owner ?? null, claimNext?.milliseconds ?? null, at],
      ]);
      if (ended === null) return 'lost';
      return {
        commit: { revision: ended.revision, events: toLogged(events, ended.last_event_id, at) },
        next:
          ended.next === null || claimNext === null
            ? null
            : toClaimedTurn(ended.next, turn.sessionId, claimNext.owner),
      };
    },

    async countRequest(quotas) {
      if (quotas.length === 0) return undefined;
      const exhausted = await call<number | null>(COUNT_REQUEST, [toQuotas(quotas)]);
      return exhausted === null ? undefined : quotaAt(quotas, exhausted);
    },
  };
}

function quotaAt(quotas: readonly Quota[], index: number): Quota {
  const quota = quotas[index];
  if (quota === undefined) throw new Error(`quota ${String(index)} does not exist`);
  return quota;
}

function toInterruption({ cancelled, running }: Cancelled, sessionId: string) {
  return {
    cancelled: cancelled.map((row) => toTurn(row, sessionId)),
    running: running === null ? null : toTurn(running, sessionId),
  };
}
