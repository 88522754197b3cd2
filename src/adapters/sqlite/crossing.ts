/**
 * What a new session sends to the writing thread and gets back crosses as lists of values. Objects cross with the name of each
 * property, there and back a quarter of all the instructions that a new session takes; as lists, a tenth.
 */
import type { EventBody, LoggedEvent } from '../../core/event.js';
import type { Session, SessionFields, TitleSource } from '../../core/session.js';
import type { Commit, SavedSession, SessionChange } from '../../core/store.js';
import { parseUserState } from './json-columns.js';
import type { SessionRow } from './session-row.js';

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

/** A `SavedSession`. */
export type SavedValues =
  | 'stale'
  | 'missing'
  | readonly [created: boolean, revision: number, events: readonly LoggedEvent[], ...session: SessionValues];

type SessionValues = readonly [
  id: string,
  title: string,
  titleSource: TitleSource,
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

export function savedValues(row: SessionRow, created: boolean, { revision, events }: Commit): SavedValues {
  return [
    created,
    revision,
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
  const [created, revision, events] = values;
  const session: Session = {
    id: values[3],
    title: values[4],
    titleSource: values[5],
    wallet: values[6],
    rig: values[7],
    client: values[8],
    app: values[9],
    userState: values[10] === null ? null : parseUserState(values[10]),
    interrupted: values[11] === 1,
    createdAt: values[12],
    activeAt: values[13],
    lastEventId: values[14],
    revision: values[15],
    version: values[16],
  };
  return { kind: 'saved', session, created, commit: { revision, events } };
}
