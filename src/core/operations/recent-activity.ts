import {
  UNOBSERVED,
  type AnswerObserver,
  type AnswerOutcome,
  type ObservedCall,
  type Observer,
  type ToolCallObserver,
  type TurnObserver,
} from '../ports/observer.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { ActivityRow, FailureRow, OverviewStore, WorkRow } from '../ports/overview-store.js';
import type { Rig, RigRequest } from '../ports/rig.js';
import type { ClaimedTurn, Turn, TurnOutcome, Usage } from '../model/turn.js';
import { wellFormed } from '../model/text.js';
import { PeriodicFlush } from './periodic-flush.js';
import { Durations, percentilesOf, type Percentiles } from './durations.js';

/** Activity of all processes in one interval. Times are in milliseconds. */
export interface RecentPoint {
  /** Start of the interval, since the epoch. */
  readonly at: number;
  readonly outcomes: Readonly<Record<TurnOutcome, number>>;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Time from the start of an attempt at a turn to its first text. Null: no values. */
  readonly firstText: Percentiles | null;
  /** Time from the start of an attempt at a turn to the turn's end. Null: no values. */
  readonly duration: Percentiles | null;
}

/** The work of this process in one minute. */
interface Minute {
  readonly outcomes: Record<TurnOutcome, number>;
  inputTokens: number;
  outputTokens: number;
  readonly firstText: Durations;
  readonly duration: Durations;
  /** True until the store has the latest numbers. */
  isDirty: boolean;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const EVERY_MS = 10_000;
/** How many minutes and failures are kept in memory while the store is unavailable. */
const MINUTES = 24 * 60;
const FAILURES = 100;

/** The dependencies of `Recent`. */
export interface RecentParts {
  readonly store: Pick<OverviewStore, 'saveActivity' | 'readActivity'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Counts the work of this process in bounded memory, and adds it to the stored history every few seconds. */
export class Recent {
  readonly #minutes = new Map<number, Minute>();
  readonly #failures: FailureRow[] = [];
  /** By day, App and key. */
  readonly #work = new Map<string, WorkRow>();
  readonly #node: string;
  readonly #flushes: PeriodicFlush;
  #isFailing = false;
  readonly startedAt: number;
  /** Collects the statistics. To be registered with the core. */
  readonly observer: Observer;

  constructor(private readonly parts: RecentParts) {
    const { clock } = parts;
    this.startedAt = clock.now();
    this.#node = clock.newId();
    this.#flushes = new PeriodicFlush(clock, EVERY_MS, () => this.#flush());
    const notes: Notes = {
      clock,
      minute: () => this.#now(),
      failed: (turn, rig, reason) => {
        this.#fail(turn, rig, reason);
      },
      used: (turn, tokens) => {
        this.#count(turn, { turns: 0, ...tokens });
      },
    };
    this.observer = {
      ...UNOBSERVED,
      accepted: (turn) => {
        this.#count(turn, { turns: 1, inputTokens: 0, outputTokens: 0 });
      },
      cancelled: () => {
        this.#now().outcomes.interrupted += 1;
      },
      started: (turn) => new Attempt(notes, turn),
    };
  }

  start(): void {
    this.#flushes.start();
  }

  /** Adds new numbers to the store. Never rejects: what could not be stored is kept and retried. */
  flush(): Promise<void> {
    return this.#flushes.flush();
  }

  /** Stops the timer and flushes one last time. */
  close(): Promise<void> {
    return this.#flushes.close();
  }

  /**
   * Returns the last `milliseconds` of all processes in intervals of `step`, oldest first.
   * @param step in milliseconds, a multiple of a minute
   */
  async points(milliseconds: number, step: number): Promise<RecentPoint[]> {
    await this.flush();
    const now = this.parts.clock.now();
    const from = Math.floor((now - milliseconds) / step) * step + step;
    const steps = new Map<number, ActivityRow[]>();
    for (let at = from; at <= now; at += step) steps.set(at, []);
    for (const row of await this.parts.store.readActivity(from))
      steps.get(row.at - (row.at % step))?.push(row);
    return [...steps].map(([at, rows]) => pointOf(at, rows));
  }

  async #flush(): Promise<void> {
    const dirty = [...this.#minutes].filter(([, { isDirty }]) => isDirty);
    const failures = this.#failures.splice(0);
    const work = [...this.#work.values()];
    if (dirty.length === 0 && failures.length === 0 && work.length === 0) return;
    this.#work.clear();
    const minutes = dirty.map(([index, minute]) => this.#rowOf(index, minute));
    try {
      await this.parts.store.saveActivity({ minutes, failures, work });
      this.#isFailing = false;
    } catch (error) {
      for (const [, minute] of dirty) minute.isDirty = true;
      this.#failures.unshift(...failures);
      this.#failures.splice(0, this.#failures.length - FAILURES);
      for (const row of work) this.#add(row);
      // Logged once per outage, not for every retry: the store raises its own alarms.
      if (!this.#isFailing) this.parts.log.warn({ err: error }, 'failed to store activity, retrying');
      this.#isFailing = true;
    }
  }

  #rowOf(index: number, minute: Minute): ActivityRow {
    minute.isDirty = false;
    const { outcomes, inputTokens, outputTokens, firstText, duration } = minute;
    return {
      ...{ at: index * MINUTE_MS, node: this.#node, ...outcomes, inputTokens, outputTokens },
      ...{ firstText: firstText.counts(), duration: duration.counts() },
    };
  }

  #fail({ id, sessionId, app }: ClaimedTurn, rig: string | null, reason: string | null): void {
    const at = this.parts.clock.now();
    const words = reason === null ? null : wellFormed(reason);
    this.#failures.push({ at, turnId: id, sessionId, app, rig, reason: words });
    if (this.#failures.length > FAILURES) this.#failures.shift();
  }

  #count({ app, keyId }: Turn, numbers: Pick<WorkRow, 'turns' | 'inputTokens' | 'outputTokens'>): void {
    const now = this.parts.clock.now();
    this.#add({ day: now - (now % DAY_MS), app, keyId, ...numbers });
  }

  #add(row: WorkRow): void {
    const id = JSON.stringify([row.day, row.app, row.keyId]);
    const there = this.#work.get(id);
    const sum = (name: 'turns' | 'inputTokens' | 'outputTokens'): number => (there?.[name] ?? 0) + row[name];
    this.#work.set(id, {
      ...row,
      ...{ turns: sum('turns'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') },
    });
  }

  /** Returns the current minute, to be changed. */
  #now(): Minute {
    const index = Math.floor(this.parts.clock.now() / MINUTE_MS);
    const known = this.#minutes.get(index);
    if (known !== undefined) {
      known.isDirty = true;
      return known;
    }
    const minute = emptyMinute();
    this.#minutes.set(index, minute);
    for (const old of this.#minutes.keys()) if (old <= index - MINUTES) this.#minutes.delete(old);
    return minute;
  }
}

/** Where attempts record their statistics. */
interface Notes {
  readonly clock: Clock;
  readonly minute: () => Minute;
  readonly failed: (turn: ClaimedTurn, rig: string | null, reason: string | null) => void;
  readonly used: (turn: ClaimedTurn, tokens: Usage) => void;
}

class Attempt implements TurnObserver {
  readonly #begun: number;
  #hasSpoken = false;
  /** Why the last model request failed. */
  #reason: string | null = null;

  constructor(
    private readonly notes: Notes,
    private readonly turn: ClaimedTurn,
  ) {
    this.#begun = notes.clock.monotonic();
  }

  asked(_rig: Rig, purpose: RigRequest['purpose']): AnswerObserver {
    return new Answer(this.notes, this.turn, purpose === 'answer' ? this : undefined);
  }

  toolCalled(call: ObservedCall): ToolCallObserver {
    return UNOBSERVED.toolCalled(call);
  }

  /** Records the time to the first text of this attempt. */
  spoke(): void {
    if (this.#hasSpoken) return;
    this.#hasSpoken = true;
    this.notes.minute().firstText.add(this.notes.clock.monotonic() - this.#begun);
  }

  /** Records the end of a model request. */
  answered(reason: string | undefined): void {
    this.#reason = reason ?? null;
  }

  ended(outcome: TurnOutcome, rigId: string | null): void {
    const minute = this.notes.minute();
    minute.outcomes[outcome] += 1;
    minute.duration.add(this.notes.clock.monotonic() - this.#begun);
    if (outcome === 'failed') this.notes.failed(this.turn, rigId, this.#reason);
  }

  left(): void {
    // The process that continues the turn records its end.
  }
}

/** One model request. */
class Answer implements AnswerObserver {
  /** @param attempt absent for a title request */
  constructor(
    private readonly notes: Notes,
    private readonly turn: ClaimedTurn,
    private readonly attempt: Attempt | undefined,
  ) {}

  spoke(): void {
    this.attempt?.spoke();
  }

  ended(_outcome: AnswerOutcome, usage: Usage, _calls: number, reason?: string): void {
    const { inputTokens, outputTokens } = usage;
    this.attempt?.answered(reason);
    const minute = this.notes.minute();
    minute.inputTokens += inputTokens;
    minute.outputTokens += outputTokens;
    this.notes.used(this.turn, { inputTokens, outputTokens });
  }
}

function emptyMinute(): Minute {
  return {
    outcomes: { complete: 0, interrupted: 0, failed: 0 },
    ...{
      inputTokens: 0,
      outputTokens: 0,
      firstText: new Durations(),
      duration: new Durations(),
      isDirty: true,
    },
  };
}

function pointOf(at: number, rows: readonly ActivityRow[]): RecentPoint {
  const total = (pick: (row: ActivityRow) => number): number => rows.reduce((sum, row) => sum + pick(row), 0);
  return {
    at,
    outcomes: {
      complete: total(({ complete }) => complete),
      interrupted: total(({ interrupted }) => interrupted),
      failed: total(({ failed }) => failed),
    },
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    firstText: percentilesOf(rows.map(({ firstText }) => firstText)),
    duration: percentilesOf(rows.map(({ duration }) => duration)),
  };
}
