import { optionalInteger } from '../../http/validation/params.js';

/** The two ways to say which event of a stream was the last one seen. */
export const cursorParams = {
  lastEventId: optionalInteger('headers', 'Last-Event-ID', { min: 0 }),
  since: optionalInteger('query', 'since', { min: 0 }),
};

/** The event to go on after; null: only what happens from now on. The header wins, as a browser keeps it up to date. */
export function cursorOf(asked: {
  readonly lastEventId: number | undefined;
  readonly since: number | undefined;
}): number | null {
  return asked.lastEventId ?? asked.since ?? null;
}
