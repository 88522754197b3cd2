/**
 * What a new session sends to the writing thread and gets back crosses as lists of values. Objects cross with the name of each
 * property, there and back a quarter of all the instructions that a new session takes; as lists, a tenth.
 */
import type { EventBody, LoggedEvent } from '../../core/event.js';
import type { SessionFields } from '../../core/session.js';
import type { SavedSession, SessionChange } from '../../core/store.js';
import { toSession, type SessionPart } from './session-row.js';

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

export function changeValues(change: SessionChange): ChangeValues {
  const { id, ifMissing, ifVersion, set, events, isActivity, at } = change;
  return [id, ifMissing, ifVersion, set, events, isActivity, at];
}

/** A `SavedSession`; the revision of its commit is that of its row. */
export type SavedValues =
  | 'stale'
  | 'missing'
  | [
      created: boolean,
      events: readonly LoggedEvent[],
      id: string,
      title: string,
      titleSource: SessionPart['title_source'],
      wallet: string | null,
      rig: string | null,
      client: string | null,
      app: string | null,
      userState: string | null,
      interrupted: number,
      createdAt: number,
      activeAt: number,
      lastEventId: number,
      revision: number,
      version: number,
    ];

export function savedValues(row: SessionPart, created: boolean, events: readonly LoggedEvent[]): SavedValues {
  return [
    created,
    events,
    row.id,
    row.title,
    row.title_source,
    row.wallet,
    row.rig,
    row.client,
    row.app,
    row.user_state,
    row.interrupted,
    row.created_at,
    row.active_at,
    row.last_event_id,
    row.revision,
    row.version,
  ];
}

export function toSaved(values: SavedValues): SavedSession {
  if (typeof values === 'string') return { kind: values };
  const session = toSession({
    id: values[2],
    title: values[3],
    title_source: values[4],
    wallet: values[5],
    rig: values[6],
    client: values[7],
    app: values[8],
    user_state: values[9],
    interrupted: values[10],
    created_at: values[11],
    active_at: values[12],
    last_event_id: values[13],
    revision: values[14],
    version: values[15],
  });
  return {
    kind: 'saved',
    session,
    created: values[0],
    commit: { revision: session.revision, events: values[1] },
  };
}
