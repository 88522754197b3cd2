import type { Quota } from '../../../../core/model/quota.js';
import { PLACEHOLDER_TITLE } from '../../../../core/model/session.js';
import type { Commit } from '../../../../core/model/event.js';
import type { Store } from '../../../../core/ports/store.js';
import type { Bindable, Run } from '../connections.js';
import { callOf, resultOf } from '../functions.js';
import { Steps, type WriteFunction } from '../steps.js';
import {
  toClaimedTurn,
  toEventLists,
  toFields,
  toJson,
  toLogged,
  toQuotas,
  toRecords,
  toSession,
  toTurn,
  toUse,
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

const INTERRUPT_TURNS = callOf('interrupt_turns', 2);
const COUNT_REQUEST = callOf('count_request', 1);
const COUNT_ATTEMPTS = callOf('count_attempts', 1);
const REPEAT_PROGRESS = callOf('repeat_progress', 11);

type WriteName =
  | 'saveSession'
  | 'appendEvents'
  | 'acceptMessage'
  | 'interruptTurns'
  | 'saveProgress'
  | 'endTurn'
  | 'countRequest'
  | 'countAttempts';

/** The results of the write functions. */
interface Results {
  readonly save_session: Saved;
  readonly append_events: Counters | null;
  readonly accept_message: Accepted;
  readonly save_progress: Counters | null;
  readonly end_turn: (Counters & { readonly next: TurnRow | null }) | null;
}

/** Writes to a session. Each is a step that shares a transaction with others, except those that count uses. */
export function createWrites(run: Run, steps = new Steps(run)): Pick<Store, WriteName> {
  const write = <F extends WriteFunction>(name: F, values: readonly Bindable[]): Promise<Results[F]> =>
    steps.write(name, values) as Promise<Results[F]>;
  // Uses are locked after the session: a group that locked those of several sessions could deadlock.
  const writeAlone = <F extends WriteFunction>(name: F, values: readonly Bindable[]): Promise<Results[F]> =>
    steps.writeAlone(name, values) as Promise<Results[F]>;
  const interruptions = new Map<string, Promise<unknown>>();

  return {
    async saveSession({ id, ifMissing, ifVersion, set, events, isActivity, at }) {
      const saved = await write('save_session', [
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
      const counters = await write('append_events', [id, ...toEventLists(events), at]);
      if (counters === null) return undefined;
      return { revision: counters.revision, events: toLogged(events, counters.last_event_id, at) };
    },

    async acceptMessage(asked) {
      const { sessionId, idempotency, claim, at } = asked;
      const accepted = await (asked.quotas.length === 0 ? write : writeAlone)('accept_message', [
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
      type Done = (Cancelled & { readonly revision: number }) | null;
      const interrupting = resultOf<Done>(run, INTERRUPT_TURNS, [sessionId, at]);
      interruptions.set(sessionId, interrupting);
      const done = await interrupting.finally(() => {
        if (interruptions.get(sessionId) === interrupting) interruptions.delete(sessionId);
      });
      if (done === null) return undefined;
      return { ...toInterruption(done, sessionId), commit: { revision: done.revision, events: [] } };
    },

    async saveProgress(turn, { messages, events, partialText, partialSince = 0, repeatsAfter }, at) {
      const values = [
        ...[turn.sessionId, turn.id, turn.owner, turn.attempt],
        ...[toRecords(messages), ...toEventLists(events), partialText, at, partialSince],
      ];
      const counters =
        repeatsAfter === undefined
          ? await write('save_progress', values)
          : await resultOf<Counters | null>(run, REPEAT_PROGRESS, [...values, repeatsAfter]);
      if (counters === null) return 'lost';
      return { revision: counters.revision, events: toLogged(events, counters.last_event_id, at) };
    },

    async endTurn(turn, ending) {
      const { outcome, messages, events, error, rig, usage, shownTokens, uses, claimNext, at } = ending;
      // It has another connection, and could be overtaken: this step would then claim a turn that it cancels.
      await interruptions.get(turn.sessionId)?.catch(() => undefined);
      const ended = await (uses.length === 0 ? write : writeAlone)('end_turn', [
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
      const exhausted = await resultOf<number | null>(run, COUNT_REQUEST, [toQuotas(quotas)]);
      return exhausted === null ? undefined : quotaAt(quotas, exhausted);
    },

    async countAttempts(attempts) {
      if (attempts.length === 0) return;
      const rows = attempts.map(({ turnId, attempt, usage, shownTokens, uses }) => ({
        ...{ turn: turnId, attempt, input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
        ...{ shown_tokens: shownTokens, uses: uses.map(toUse) },
      }));
      await run(COUNT_ATTEMPTS, [toJson(rows)]);
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
