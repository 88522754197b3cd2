/**
 * What a new session sends to the writing thread and gets back crosses as lists of values. Objects cross with the name
 * of each property, there and back a quarter of all the instructions that a new session takes; as lists, a tenth.
 */
import type { EventBody, LoggedEvent } from '../../../../core/model/event.js';
import type { SessionFields } from '../../../../core/model/session.js';
import type { SavedSession, SessionChange } from '../../../../core/ports/store.js';
import { coreValues, sessionOf, type CoreValues, type SessionRow } from '../rows/session-row.js';

/** A `SessionChange`. */
export type ChangeValues = [
  id: string,
  ifMissing: SessionChange['ifMissing'],
  ifVersion: number | undefined,
  set: SessionFields,
  events: readonly EventBody[],
  isActivity: boolean,
  at: number,
];

/** A change on its way to the writing thread. */
export function changeValues(change: SessionChange): ChangeValues {
  const { id, ifMissing, ifVersion, set, events, isActivity, at } = change;
  return [id, ifMissing, ifVersion, set, events, isActivity, at];
}

/** A `SavedSession`; the revision of its commit is that of its row. */
export type SavedValues =
  'stale' | 'missing' | [created: boolean, events: readonly LoggedEvent[], id: string, ...CoreValues];

/** What was saved on its way back. */
export function savedValues(row: SessionRow, created: boolean, events: readonly LoggedEvent[]): SavedValues {
  return [created, events, row.id, ...coreValues(row)];
}

/** The same, arrived. */
export function toSaved(values: SavedValues): SavedSession {
  if (typeof values === 'string') return { kind: values };
  const [created, events, id, ...core] = values;
  const session = sessionOf(id, core);
  return { kind: 'saved', session, created, commit: { revision: session.revision, events } };
}
