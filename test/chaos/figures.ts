import { appendFileSync } from 'node:fs';

/** What must not happen. */
const FAULTS = {
  lost: 'acknowledged messages lost',
  doubled: 'messages doubled',
  mixed: 'texts mixed of two attempts, in a stream, a state, a record or a history',
  undead: 'deleted sessions that were shown, followed or worked on afterwards',
  titleLost: 'titles of a person lost or overwritten',
  wrongEnd: 'turns that failed without a reason',
  blind: 'nodes that called themselves well while their database file was gone',
  refusedStored: 'refused messages stored all the same',
  altered: 'messages altered',
  disorder: 'messages or turns out of the order of acknowledgement',
  wrongAnswer: 'answers wrong, doubled or out of place',
  cutShort: 'turns cut short without a reason that shows',
  neverEnded: 'turns that never ended',
  stuck: 'threads stuck 10 s after a fault',
  unwell: 'nodes not well 10 s after a fault, or deaf to the others',
  eventGap: 'events lost or skipped',
  eventDouble: 'events doubled',
  eventChanged: 'events whose content changed',
  toolEvents: 'tool calls not announced exactly once',
  toolRepeated: 'tool calls with side effects made more than once',
  walletTwice: 'payments staged, or asked of a wallet, more than once',
  outcomeLost: 'outcomes of wallet requests lost, or without a turn that learns them',
  outcomeTwice: 'outcomes of wallet requests applied more than once',
  outcomeWrong: 'outcomes that differ from what was reported, or from what the chain has',
  walletLie: 'payments told to the model as confirmed that the chain does not have',
  toolFailed: 'tools that failed although they were called rightly',
  fellShort: 'followers that were not brought up to date',
  turnEvents: 'live turn texts that differ from the answer',
  legacyEnd: 'legacy streams without exactly one end',
  legacyText: 'legacy streams that differ from the record',
  snapshot: 'snapshots that contradict what is known',
  history: 'broken histories sent to the model',
  status: 'answers with a 5xx, but for 503 while a node drains or cannot reach its store',
  unexpected: 'answers of another unexpected status or shape',
  hung: 'requests without an answer',
  cutOff: 'connections that broke although their node lived',
  drain: 'drains that did not end with exit code 0 in time',
  crash: 'exits of the server by itself',
  brokeOff: 'runs of this program that broke off',
} as const;
export type Fault = keyof typeof FAULTS;

/** What was done. */
const COUNTS = {
  kills: 'SIGKILL',
  doubleKills: '… of them in the recovery from another',
  drains: 'SIGTERM (drain)',
  killedDrains: '… of them killed while draining',
  redisStops: 'Redis stopped and started',
  redisFreezes: 'Redis frozen',
  databaseCuts: 'all connections to PostgreSQL cut',
  databaseRestarts: 'PostgreSQL stopped and started',
  partitions: 'nodes partitioned from PostgreSQL',
  freezes: 'nodes stopped and continued',
  nodeClockSteps: 'steps of the clock of a node, or of the machine of the SQLite file',
  databaseClockSteps: 'steps of the clock of PostgreSQL',
  redisAndNode: 'Redis and a node lost at once',
  fileLosses: 'database files unlinked or moved',
  floods: 'nodes whose descriptors were used up',
  renames: 'renames of sessions',
  deletes: 'deletions of sessions',
  cliDeletes: '… of them by the command line',
  hostileRequests: 'hostile requests, with hostile contracts behind them',
  payments: 'payments asked for',
  walletRequests: '… that waited for a wallet',
  walletReports: 'reports of wallets',
  walletLies: '… of something else than the truth',
  walletTurns: 'turns that learned of one and were answered',
  walletConfirmed: 'verdicts: confirmed',
  walletDiffers: '… differs from what was staged',
  walletNotFound: '… not found yet',
  sessions: 'sessions',
  sentCurrent: 'sends on the current surface',
  sentWait: '… with Prefer: wait',
  sentLegacy: 'sends on the legacy surface',
  queued: 'sends to a busy thread',
  retries: 'repeats of unacknowledged sends',
  repeats: 'repeats of acknowledged sends',
  watches: 'legacy streams of a turn under way, opened at any node',
  acked: 'messages acknowledged',
  unknown: 'messages of unknown fate (no key)',
  unavailable: 'requests answered by 503',
  refused: 'messages refused by it',
  turnsComplete: 'turns complete',
  turnsInterrupted: 'turns interrupted',
  turnsFailed: 'turns ended with a SystemError',
  openAtKill: 'sessions with open turns at a kill or drain',
  takeovers: 'turns taken over',
  interrupts: 'interrupts',
  polls: 'state polls',
  notModified: '… answered by 304',
  legacyStreams: 'legacy streams read to their end',
  legacyCut: '… cut by a kill',
  legacyLeft: '… left by the client',
  connects: 'update streams opened',
  reconnects: '… with a cursor',
  events: 'events followed',
  upstream: 'requests to the model',
  upstreamDrop: '… dropped in mid-stream',
  upstream429: '… answered by 429',
  upstream500: '… answered by 500',
  upstreamSlow: '… answered slowly',
  upstreamHostile: '… answered with what no provider should send',
  bookings: 'tool calls with side effects made',
  upstreamCalls: '… answered with tool calls',
} as const;
export type Count = keyof typeof COUNTS;

const SHOWN = 5;

/** The figures of a run. Every fault is also written to a file with its details. */
export class Figures {
  readonly #faults = new Map<Fault, string[]>();
  readonly #counts = new Map<Count, number>();

  constructor(private readonly file: string) {}

  fault(kind: Fault, detail: string): void {
    const line = `${new Date().toISOString()} ${kind}: ${detail}`;
    this.#faults.set(kind, [...(this.#faults.get(kind) ?? []), line]);
    appendFileSync(this.file, `${line}\n`);
  }

  count(kind: Count, by = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + by);
  }

  of(kind: Count): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** What was done, by kind. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  get faults(): number {
    return [...this.#faults.values()].reduce((sum, lines) => sum + lines.length, 0);
  }

  /** How many faults of these kinds there were. */
  faultsOf(kinds: readonly Fault[]): number {
    return kinds.reduce((sum, kind) => sum + (this.#faults.get(kind)?.length ?? 0), 0);
  }

  table(): string {
    const row = (name: string, value: number, mark = ''): string =>
      `  ${String(value).padStart(8)}  ${name}${mark}`;
    const counts = keysOf(COUNTS).map((kind) => row(COUNTS[kind], this.of(kind)));
    const faults = keysOf(FAULTS).flatMap((kind) => {
      const lines = this.#faults.get(kind) ?? [];
      const shown = lines.slice(0, SHOWN).map((line) => `              ${line.slice(0, 600)}`);
      return [row(FAULTS[kind], lines.length, lines.length > 0 ? '   <-- must be 0' : ''), ...shown];
    });
    return ['What it did', ...counts, '', 'What must be 0', ...faults].join('\n');
  }
}

function keysOf<T extends string>(record: Readonly<Record<T, unknown>>): T[] {
  const keys: T[] = [];
  for (const key in record) keys.push(key);
  return keys;
}
