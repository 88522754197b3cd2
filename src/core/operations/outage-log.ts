import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { StoreUnavailableError } from '../ports/store.js';

/** An outage counts as over when nothing has failed for this long: reads of the store take up to 6 seconds to fail. */
const QUIET_MS = 10_000;
const REMINDER_MS = 300_000;
const CHECK_MS = 1_000;
/** How many different causes of one outage are logged. */
const MAX_CAUSES = 10;

/** An outage of the store, with times of the monotonic clock, in milliseconds. */
interface Outage {
  readonly since: number;
  lastAt: number;
  remindAt: number;
  readonly causes: Set<string>;
  /** How often each message was suppressed. */
  readonly lines: Map<string, number>;
  readonly cancel: () => void;
}

/**
 * Passes all lines on, except those whose `err` is a `StoreUnavailableError`: of an outage it logs the beginning, each
 * further cause, a reminder every five minutes, and the end, with counts of the lines that it has suppressed.
 */
export class OutageLog implements Log {
  #outage: Outage | undefined;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  info(fields: Readonly<Record<string, unknown>>, message: string): void {
    this.log.info(fields, message);
  }

  warn(fields: Readonly<Record<string, unknown>>, message: string): void {
    if (!this.#takes(fields, message)) this.log.warn(fields, message);
  }

  error(fields: Readonly<Record<string, unknown>>, message: string): void {
    if (!this.#takes(fields, message)) this.log.error(fields, message);
  }

  /** Logs what an outage that is not over has suppressed. */
  close(): void {
    if (this.#outage !== undefined) this.#end(this.#outage, 'store still unavailable');
  }

  /** Returns false for a line that does not concern an outage. */
  #takes(fields: Readonly<Record<string, unknown>>, message: string): boolean {
    const { err } = fields;
    if (!(err instanceof StoreUnavailableError)) return false;
    const outage = (this.#outage ??= this.#begin());
    outage.lastAt = this.clock.monotonic();
    if (!outage.causes.has(err.message) && outage.causes.size < MAX_CAUSES) {
      outage.causes.add(err.message);
      this.log.error({ ...fields, line: message }, 'store unavailable');
    } else outage.lines.set(message, (outage.lines.get(message) ?? 0) + 1);
    return true;
  }

  #begin(): Outage {
    const since = this.clock.monotonic();
    const cancel = this.clock.every(CHECK_MS, () => {
      this.#check();
    });
    return {
      since,
      lastAt: since,
      remindAt: since + REMINDER_MS,
      causes: new Set(),
      lines: new Map(),
      cancel,
    };
  }

  #check(): void {
    const outage = this.#outage;
    if (outage === undefined) return;
    const now = this.clock.monotonic();
    if (now - outage.lastAt >= QUIET_MS) this.#end(outage, 'store failures have stopped');
    else if (now >= outage.remindAt) {
      outage.remindAt += REMINDER_MS;
      this.log.warn(summaryOf(outage), 'store still unavailable');
    }
  }

  #end(outage: Outage, message: string): void {
    outage.cancel();
    this.#outage = undefined;
    this.log.warn(summaryOf(outage), message);
  }
}

function summaryOf({ since, lastAt, lines }: Outage): Readonly<Record<string, unknown>> {
  return { seconds: Math.round((lastAt - since) / 1_000), suppressed: Object.fromEntries(lines) };
}
