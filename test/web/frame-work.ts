import type { Browser, Page } from 'playwright-core';

/** An event of a trace of Chromium. Times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly id2?: { readonly local?: string };
}

/**
 * Traces the frames of a page while something happens.
 * @returns the work of each frame in milliseconds: how long the page's main thread was busy from the first task of the
 * frame to the end of its rendering. Unlike the time between frames, it does not depend on the display's refresh rate.
 */
export async function workOfFrames(
  browser: Browser,
  page: Page,
  act: () => Promise<void>,
): Promise<readonly number[]> {
  await browser.startTracing(page, {
    categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline'],
  });
  await act();
  const trace: unknown = JSON.parse((await browser.stopTracing()).toString());
  const events = eventsOf(trace);
  const frames = events.filter(({ name }) => name === 'AnimationFrame').toSorted((a, b) => a.ts - b.ts);
  const tasks = events.filter(({ name, ph }) => name === 'RunTask' && ph === 'X');
  const begun = new Map<string, number>();
  return frames.flatMap((frame) => {
    const thread = `${String(frame.pid)} ${String(frame.tid)}`;
    const id = `${thread} ${frame.id2?.local ?? ''}`;
    if (frame.ph === 'b') begun.set(id, frame.ts);
    const from = begun.get(id);
    if (frame.ph !== 'e' || from === undefined) return [];
    const work = tasks
      .filter(({ pid, tid }) => `${String(pid)} ${String(tid)}` === thread)
      .map(({ ts, dur = 0 }) => Math.max(0, Math.min(ts + dur, frame.ts) - Math.max(ts, from)));
    return [work.reduce((sum, time) => sum + time, 0) / 1000];
  });
}

/** The value that 95 % of the values do not exceed. */
export function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? NaN;
}

function eventsOf(trace: unknown): readonly TraceEvent[] {
  const isTrace = (value: unknown): value is { traceEvents: TraceEvent[] } =>
    typeof value === 'object' && value !== null && 'traceEvents' in value && Array.isArray(value.traceEvents);
  if (!isTrace(trace)) throw new Error('The browser returned no trace');
  return trace.traceEvents;
}
