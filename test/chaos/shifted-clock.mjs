/**
 * Loaded before the service by `node --import`: shifts Date by the seconds in the file CHAOS_CLOCK_FILE
 * (clock-file.ts), in the main thread and in workers. The monotonic clock (`performance.now()`, timers) stays as it is.
 */
import { readFileSync } from 'node:fs';
import { env } from 'node:process';

/** How old the offset in memory may be. */
const FRESH_MS = 20;

const Steady = globalThis.Date;
const { performance } = globalThis;
let offset = 0;
let readAt = -Infinity;

function now() {
  if (performance.now() - readAt > FRESH_MS) {
    readAt = performance.now();
    try {
      offset = Number(readFileSync(env.CHAOS_CLOCK_FILE ?? '').readBigInt64LE()) * 1000;
    } catch {
      // No descriptor is left: the offset stays what it was.
    }
  }
  return Steady.now() + offset;
}

globalThis.Date = new Proxy(Steady, {
  apply: () => new Steady(now()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
