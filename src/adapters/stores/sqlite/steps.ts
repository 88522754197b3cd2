import type { CallHolder, OpenCall } from '../../../core/ports/call-store.js';
import type {
  Acceptance,
  Accepted,
  Interruption,
  Progress,
  SavedSession,
  SessionChange,
  StoredKey,
  TurnEnding,
} from '../../../core/ports/store.js';
import type { Commit, EventBody } from '../../../core/model/event.js';
import type { Lease, ClaimedTurn } from '../../../core/model/turn.js';
import type { Prune } from '../../../core/ports/store.js';
import type { AttemptUse, LeaseMark } from '../../../core/ports/lease-store.js';
import type { ClaimedFaults } from '../../../core/ports/fault-store.js';
import type { Quota } from '../../../core/model/quota.js';
import type { SealedSecret, SecretBounds, StoredSecrets } from '../../../core/ports/secret-store.js';
import type { NewActivity } from '../../../core/ports/overview-store.js';
import type { Branched, Branching } from '../../../core/ports/stored-thread.js';
import type { NoticeClaim, UsageRow } from '../../../core/ports/usage-store.js';
import type { WalletRequest, WalletVerification } from '../../../core/model/wallet-request.js';
import type {
  AskedWallet,
  NewWalletRequest,
  Note,
  ReportedOutcome,
  StagedRequest,
  StoredNote,
  WalletAsk,
  WalletReport,
} from '../../../core/ports/wallet-store.js';

/** What a step of a prune removes. The stages follow each other in this order. */
export type PruneStage = 'threads' | 'events' | 'keys' | 'activity';

/** The result of one bounded pruning step: the deleted sessions, and the stage of the next step (null: done). */
export interface Pruned {
  readonly deleted: readonly string[];
  readonly next: PruneStage | null;
}

/** The sessions whose requests one step has expired. */
export type ExpiredRequests = readonly { readonly sessionId: string; readonly commit: Commit | null }[];

interface Step<A extends readonly unknown[], R> {
  readonly args: A;
  readonly result: R;
}

/**
 * The write steps that the writer thread runs. Each implements the `Store` method of the same name, except `pruneSome`
 * and `probe`.
 */
export interface Steps {
  saveSession: Step<[change: SessionChange], SavedSession>;
  deleteSession: Step<[id: string, at: number], boolean>;
  branchSession: Step<[Branching], Branched>;
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
  countAttempts: Step<[attempts: readonly AttemptUse[]], undefined>;
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
  stageWalletRequest: Step<[request: NewWalletRequest], StagedRequest>;
  requestWallet: Step<[ask: WalletAsk], AskedWallet>;
  reportWalletOutcome: Step<[report: WalletReport], ReportedOutcome>;
  verifyWalletRequest: Step<
    [sessionId: string, id: number, turnId: string, verification: WalletVerification],
    WalletRequest | undefined
  >;
  expireWalletRequests: Step<[now: number, limit: number], ExpiredRequests>;
  addNote: Step<[note: Note], StoredNote>;
  addUsage: Step<[rows: readonly UsageRow[]], undefined>;
  claimNotice: Step<[claim: NoticeClaim], boolean>;
  settleNotice: Step<[name: string, owner: string, at: number], undefined>;
  saveActivity: Step<[added: NewActivity], undefined>;
  countRequest: Step<[quotas: readonly Quota[]], Quota | undefined>;
  pruneSome: Step<[prune: Prune, stage: PruneStage], Pruned>;
  /** Writes one row, for health checks. */
  probe: Step<[at: number], undefined>;
}

export type StepName = keyof Steps;

/** A step with its arguments, as a message to the writer thread. */
export type Call<K extends StepName = StepName> = {
  [P in K]: { readonly name: P; readonly args: Steps[P]['args'] };
}[K];

/**
 * A `Call` before it is posted. Its type does not tie the arguments to the name: the signature of `Writer.run` does.
 */
export interface PostedCall {
  readonly name: StepName;
  readonly args: Steps[StepName]['args'];
}

/** The implementation of each step. Runs inside a transaction that the caller opened. */
export type Handlers = { readonly [K in StepName]: (...args: Steps[K]['args']) => Steps[K]['result'] };

export function runStep<K extends StepName>(handlers: Handlers, call: Call<K>): Steps[K]['result'] {
  return handlers[call.name](...call.args);
}
