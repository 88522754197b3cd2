/**
 * Encodes the saving of a session as arrays, for posting to the writer thread and back: structured cloning copies each
 * property name of an object, which makes objects more expensive than arrays.
 */
import type { EventBody, LoggedEvent } from '../../../../core/model/event.js';
import type { SessionFields } from '../../../../core/model/session.js';
import type { SavedSession, SessionChange } from '../../../../core/ports/store.js';
import { coreValues, sessionOf, type CoreValues, type SessionRow } from '../rows/session-row.js';

/** The values of a `SessionChange`. */
export type ChangeValues = [
  id: string,
  ifMissing: SessionChange['ifMissing'],
  ifVersion: number | undefined,
  set: SessionFields,
  events: readonly EventBody[],
  isActivity: boolean,
  at: number,
];

/** Encodes a change for the writer thread. */
export function changeValues(change: SessionChange): ChangeValues {
  const { id, ifMissing, ifVersion, set, events, isActivity, at } = change;
  return [id, ifMissing, ifVersion, set, events, isActivity, at];
}

/** The values of a `SavedSession`. The revision of its commit is that of the session. */
export type SavedValues =
  'stale' | 'missing' | [created: boolean, events: readonly LoggedEvent[], id: string, ...CoreValues];

/** Encodes a saved session for the main thread. */
export function savedValues(row: SessionRow, created: boolean, events: readonly LoggedEvent[]): SavedValues {
  return [created, events, row.id, ...coreValues(row)];
}

/** Decodes a saved session on the main thread. */
export function toSaved(values: SavedValues): SavedSession {
  if (typeof values === 'string') return { kind: values };
  const [created, events, id, ...core] = values;
  const session = sessionOf(id, core);
  return { kind: 'saved', session, created, commit: { revision: session.revision, events } };
}
