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
import type { Rig, RigRequest } from '../ports/rig.js';
import type { ClaimedTurn, TurnOutcome, Usage } from '../model/turn.js';

/** Activity of this process in one interval. Times are in milliseconds. */
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

/** In milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** A turn that failed in this process. The store has its error message. */
export interface RecentFailure {
  readonly at: number;
  readonly turnId: string;
  readonly sessionId: string;
  readonly app: string;
  readonly rig: string | null;
  /** Why the last model request failed, with the provider's words. Null: the turn failed for another reason. */
  readonly reason: string | null;
}

interface Minute {
  readonly outcomes: Record<TurnOutcome, number>;
  inputTokens: number;
  outputTokens: number;
  readonly firstText: Sample;
  readonly duration: Sample;
}

const MINUTE_MS = 60_000;
/** How many minutes and failures are kept. */
const MINUTES = 24 * 60;
const FAILURES = 100;
/** How many durations are kept per minute. */
const SAMPLES = 128;

/** Keeps statistics of the last 24 hours of this process, by the minute, in bounded memory. */
export class Recent {
  readonly #minutes = new Map<number, Minute>();
  readonly #failures: RecentFailure[] = [];
  readonly startedAt: number;
  /** Collects the statistics. To be registered with the core. */
  readonly observer: Observer;

  constructor(private readonly clock: Clock) {
    this.startedAt = clock.now();
    const notes: Notes = {
      clock,
      minute: () => this.#now(),
      failed: (turn, rig, reason) => {
        this.#fail(turn, rig, reason);
      },
    };
    this.observer = { ...UNOBSERVED, started: (turn) => new Attempt(notes, turn) };
  }

  /**
   * Returns the last `milliseconds` in intervals of `step`, oldest first.
   * @param step in milliseconds, a multiple of a minute
   */
  points(milliseconds: number, step: number): RecentPoint[] {
    const now = this.clock.now();
    const from = Math.floor((now - milliseconds) / step) * step + step;
    const points: RecentPoint[] = [];
    for (let at = from; at <= now; at += step) points.push(this.#point(at, step));
    return points;
  }

  /** Returns the recent failures, newest first. */
  failures(): readonly RecentFailure[] {
    return this.#failures.toReversed();
  }

  #fail({ id, sessionId, app }: ClaimedTurn, rig: string | null, reason: string | null): void {
    this.#failures.push({ at: this.clock.now(), turnId: id, sessionId, app, rig, reason });
    if (this.#failures.length > FAILURES) this.#failures.shift();
  }

  #now(): Minute {
    const index = Math.floor(this.clock.now() / MINUTE_MS);
    const known = this.#minutes.get(index);
    if (known !== undefined) return known;
    const minute = emptyMinute();
    this.#minutes.set(index, minute);
    for (const old of this.#minutes.keys()) if (old <= index - MINUTES) this.#minutes.delete(old);
    return minute;
  }

  #point(at: number, step: number): RecentPoint {
    const first = at / MINUTE_MS;
    const minutes = Array.from({ length: step / MINUTE_MS }, (_, n) => this.#minutes.get(first + n)).filter(
      (minute) => minute !== undefined,
    );
    const total = (pick: (minute: Minute) => number): number =>
      minutes.reduce((sum, minute) => sum + pick(minute), 0);
    return {
      at,
      outcomes: {
        complete: total(({ outcomes }) => outcomes.complete),
        interrupted: total(({ outcomes }) => outcomes.interrupted),
        failed: total(({ outcomes }) => outcomes.failed),
      },
      inputTokens: total(({ inputTokens }) => inputTokens),
      outputTokens: total(({ outputTokens }) => outputTokens),
      firstText: percentiles(minutes.flatMap(({ firstText }) => firstText.values)),
      duration: percentiles(minutes.flatMap(({ duration }) => duration.values)),
    };
  }
}

/** Where attempts record their statistics. */
interface Notes {
  readonly clock: Clock;
  readonly minute: () => Minute;
  readonly failed: (turn: ClaimedTurn, rig: string | null, reason: string | null) => void;
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
    return new Answer(this.notes, purpose === 'answer' ? this : undefined);
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
    private readonly attempt: Attempt | undefined,
  ) {}

  spoke(): void {
    this.attempt?.spoke();
  }

  ended(_outcome: AnswerOutcome, usage: Usage, _calls: number, reason?: string): void {
    this.attempt?.answered(reason);
    const minute = this.notes.minute();
    minute.inputTokens += usage.inputTokens;
    minute.outputTokens += usage.outputTokens;
  }
}

/** A uniform random sample of the added numbers, of bounded size. */
class Sample {
  readonly values: number[] = [];
  #seen = 0;

  add(value: number): void {
    this.#seen += 1;
    if (this.values.length < SAMPLES) {
      this.values.push(value);
      return;
    }
    // Reservoir sampling, Algorithm R (Vitter 1985).
    const place = Math.floor(Math.random() * this.#seen);
    if (place < SAMPLES) this.values[place] = value;
  }
}

function emptyMinute(): Minute {
  return {
    outcomes: { complete: 0, interrupted: 0, failed: 0 },
    ...{ inputTokens: 0, outputTokens: 0, firstText: new Sample(), duration: new Sample() },
  };
}

function percentiles(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}
