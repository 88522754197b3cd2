import { optionalInteger } from '../../http/validation/params.js';

/** The two parameters that name the last event that the client has seen. */
export const cursorParams = {
  lastEventId: optionalInteger('headers', 'Last-Event-ID', { min: 0 }),
  since: optionalInteger('query', 'since', { min: 0 }),
};

/**
 * Returns the id of the event to resume after; null: send new events only. The header takes precedence, because a
 * browser updates it on reconnect.
 */
export function cursorOf(asked: {
  readonly lastEventId: number | undefined;
  readonly since: number | undefined;
}): number | null {
  return asked.lastEventId ?? asked.since ?? null;
}
