import type { App } from '../../core/model/app.js';
import type { JsonObject } from '../../core/model/json.js';
import { isFailure, type Message } from '../../core/model/message.js';
import type { ProviderKey } from '../../core/access/provider-keys.js';
import { newSession, type ThreadSummary } from '../../core/model/session.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import type { Update } from '../../core/model/update.js';
import type { Dialect } from '../../http/response/errors.js';
import { CURRENT_KEY_HEADER } from '../shared/app-key.js';
import { frameFor, updateFrame } from '../shared/events.js';
import { createMessageEncoder, encodeMessage, encodeRecord } from '../shared/messages.js';
import { errorShape } from '../shared/shapes.js';
import { SnapshotSender } from '../shared/snapshot-response.js';
import type { NamedSession } from './session-id.js';

/** Errors have the format of the current surface. */
export const fieldDialect: Dialect = { name: 'field', keyHeader: CURRENT_KEY_HEADER, error: errorShape };

/** Sends snapshots in which an agent message repeats the reason of a failed turn. */
export const snapshots = new SnapshotSender({
  encodeMessages: createMessageEncoder(
    encodeWithFailure,
    ({ skipped, skippedFailures }) => skipped + skippedFailures,
  ),
  tagMark: 'f',
});

/** The nil UUID (RFC 9562, section 5.9), which stands for no session. */
const NIL_ID = '00000000-0000-0000-0000-000000000000';

/** The snapshot of an id that names no session, or a deleted one. */
export function emptySnapshot(): Snapshot {
  const nothing = (): void => undefined;
  return {
    session: newSession(NIL_ID, 0),
    status: 'idle',
    ...{ skipped: 0, skippedFailures: 0, settled: [], settledCount: 0, open: [] },
    faults: { events: [], confirm: nothing, release: nothing },
    tag: 'empty',
  };
}

/** Returns the frame of an update; undefined: it is not sent. */
export function frame({ sentId, isAlias }: NamedSession, update: Update): Buffer | string | undefined {
  if (!isShown(update)) return undefined;
  return isAlias ? frameFor(sentId, update) : updateFrame(sentId, update, { ids: true });
}

/** A thread under the id that the client knows. */
export function thread(sentId: string, { title }: Pick<ThreadSummary, 'title'>): JsonObject {
  return { session_id: sentId, title };
}

/** A thread, with whether it is archived. */
export function listedThread(sentId: string, { title, archived }: ThreadSummary): JsonObject {
  return { session_id: sentId, title, is_archived: archived };
}

/** An App in a list. */
export function appName({ name }: App): string {
  return name;
}

/** A stored key for a model provider. */
export function providerKey({ provider, keyPrefix, label, isActive }: ProviderKey): JsonObject {
  return { provider, key_prefix: keyPrefix, label, is_active: isActive };
}

/** Repeats the reason of a failure: clients print the last agent message and hide `system` ones. */
function* encodeWithFailure(record: Message): Generator<string> {
  yield* encodeRecord(record);
  if (isFailure(record)) yield encodeMessage('agent', record.content, record.createdAt);
}

/** Clients show a notification for each tool event, so only tools that report progress get any. */
function isShown(update: Update): boolean {
  if (update.type !== 'logged') return true;
  const { body } = update.event;
  switch (body.type) {
    case 'tool_update':
      return body.message !== undefined;
    case 'tool_complete':
      return body.multiStep === true;
    case 'title_changed':
    case 'system_notice':
      return true;
  }
  return body satisfies never;
}
