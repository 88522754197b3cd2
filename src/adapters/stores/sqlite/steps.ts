import type { CallHolder, OpenCall } from '../../../core/ports/call-store.js';
import type {
  Acceptance,
  Accepted,
  Interruption,
  Progress,
  StoredKey,
  TurnEnding,
} from '../../../core/ports/store.js';
import type { Commit, EventBody } from '../../../core/model/event.js';
import type { Lease, ClaimedTurn } from '../../../core/model/turn.js';
import type { Prune } from '../../../core/ports/store.js';
import type { ChangeValues, SavedValues } from './writer/crossing.js';
import type { LeaseMark } from '../../../core/ports/lease-store.js';
import type { ClaimedFaults } from '../../../core/ports/fault-store.js';
import type { Quota } from '../../../core/model/quota.js';
import type { SealedSecret, SecretBounds, StoredSecrets } from '../../../core/ports/secret-store.js';
import type { UsageRow } from '../../../core/ports/usage-store.js';

/** How far pruning has come: at rows above `after` of that stage. */
export interface PruneCursor {
  readonly stage: 'threads' | 'events' | 'keys';
  readonly after: number;
}

/** What one bounded step of pruning did, and where the next one goes on; null: all is done. */
export interface Pruned {
  readonly deleted: readonly string[];
  readonly next: PruneCursor | null;
}

interface Step<A extends readonly unknown[], R> {
  readonly args: A;
  readonly result: R;
}

/** The steps that write, as they cross to the writing thread. Each is one method of `Store`, but the last two. */
export interface Steps {
  saveSession: Step<ChangeValues, SavedValues>;
  deleteSession: Step<[id: string, at: number], boolean>;
  acceptMessage: Step<[Acceptance], Accepted>;
  interruptTurns: Step<[sessionId: string, at: number], (Interruption & { commit: Commit }) | undefined>;
  takeOver: Step<[turnId: string, lease: Lease], ClaimedTurn | undefined>;
  claimAbandoned: Step<[lease: Lease, lost: readonly LeaseMark[], limit: number], ClaimedTurn[]>;
  renewLeases: Step<
    [lease: Lease, turnIds: readonly string[]],
    { turnId: string; cancelRequested: boolean }[]
  >;
  releaseTurns: Step<[owner: string, turnIds: readonly string[]], undefined>;
  saveProgress: Step<[turn: ClaimedTurn, progress: Progress, at: number], Commit | 'lost'>;
  endTurn: Step<
    [turn: ClaimedTurn, ending: TurnEnding],
    { commit: Commit; next: ClaimedTurn | null } | 'lost'
  >;
  openCall: Step<[call: OpenCall, lease: Lease, event: EventBody, at: number], Commit | undefined>;
  logCall: Step<[callId: string, owner: string, event: EventBody, at: number], Commit | undefined>;
  closeCall: Step<
    [callId: string, holder: CallHolder, event: EventBody, at: number],
    { sessionId: string; commit: Commit } | undefined
  >;
  renewCalls: Step<[lease: Lease, callIds: readonly string[]], undefined>;
  appendEvents: Step<[id: string, events: readonly EventBody[], at: number], Commit | undefined>;
  claimFaults: Step<[id: string, claim: Lease, lost: string | null], ClaimedFaults>;
  releaseFaults: Step<[id: string, owner: string], undefined>;
  markFaultsShown: Step<[id: string, n: number], undefined>;
  saveKey: Step<[key: StoredKey], undefined>;
  revokeKey: Step<[id: string, at: number], boolean>;
  putSecrets: Step<
    [client: string, secrets: readonly SealedSecret[], bounds: SecretBounds, at: number],
    StoredSecrets
  >;
  noteSecretUse: Step<[client: string, at: number, notedBefore: number], undefined>;
  pruneSecrets: Step<[before: number, limit: number], number>;
  deleteSecrets: Step<[client: string, which: { app: string | null; name: string | null }], number>;
  resealSecret: Step<[client: string, from: SealedSecret, to: SealedSecret], boolean>;
  addUsage: Step<[rows: readonly UsageRow[]], undefined>;
  countRequest: Step<[quotas: readonly Quota[]], Quota | undefined>;
  pruneSome: Step<[prune: Prune, from: PruneCursor], Pruned>;
  /** Writes something small for real. */
  probe: Step<[at: number], undefined>;
}

/** What the writing thread can be asked for. */
export type StepName = keyof Steps;

/** A step to run, as data. */
export type Call<K extends StepName = StepName> = {
  [P in K]: { readonly name: P; readonly args: Steps[P]['args'] };
}[K];

/**
 * A step to run, before it has crossed: of the two types one is checked where it is made, the other where it is run.
 */
export interface PostedCall {
  readonly name: StepName;
  readonly args: Steps[StepName]['args'];
}

/** The code of each step. Runs inside a transaction that the caller opened. */
export type Handlers = { readonly [K in StepName]: (...args: Steps[K]['args']) => Steps[K]['result'] };

/** Runs a step. */
export function runStep<K extends StepName>(handlers: Handlers, call: Call<K>): Steps[K]['result'] {
  return handlers[call.name](...call.args);
}
