import type { App } from '../../core/model/app.js';
import type { CutReason, TurnUpdate } from '../../core/model/update.js';
import type { RigChoice } from '../../core/model/rig-choice.js';
import type { JsonObject } from '../../core/model/json.js';
import type { ThreadSummary } from '../../core/model/session.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import { flatUserState } from '../../core/model/user-state.js';
import type { Dialect } from '../../http/response/errors.js';
import { LEGACY_KEY_HEADER } from '../shared/app-key.js';
import { encodeMessages } from '../shared/messages.js';

/** Errors have the format `{error}`. */
export const legacyDialect: Dialect = {
  name: 'legacy',
  keyHeader: LEGACY_KEY_HEADER,
  error: ({ message }) => ({ error: message }),
};

/** Encodes the state of a session as JSON in pieces, its fields in the documented order. */
export function stateJson(snapshot: Snapshot): readonly Buffer[] {
  const { session, status } = snapshot;
  const { address, chainId, isConnected } = flatUserState(session.userState);
  const start = JSON.stringify({ session_id: session.id, status });
  const end = JSON.stringify({ user_state: { address, chain_id: chainId, is_connected: isConnected } });
  const { json } = encodeMessages(snapshot, {
    start: Buffer.from(`${start.slice(0, -1)},"messages":[`),
    end: `],${end.slice(1)}`,
  });
  return json;
}

/** An entry of `threads`. */
export function thread({ id, title, createdAt, activeAt }: ThreadSummary): JsonObject {
  const created_at = new Date(createdAt).toISOString();
  const updated_at = new Date(activeAt).toISOString();
  return { id, title, created_at, updated_at };
}

/** An entry of `models`. */
export function model({ id, name, provider }: RigChoice): JsonObject {
  return { id, name, provider };
}

/** An entry of `apps`. */
export function app({ name }: App): JsonObject {
  return { id: name, name };
}

/** Returns an event of the chat stream, its fields in the documented order; undefined: the update is not sent. */
export function chatEvent(update: TurnUpdate): JsonObject | undefined {
  switch (update.type) {
    case 'turn_started':
      return undefined;
    case 'text':
      return { type: 'text', content: update.content };
    case 'tool_called': {
      const { name, callId, args } = update.call;
      return { type: 'tool_call', name, call_id: callId, args };
    }
    case 'tool_returned': {
      const { callId, name, result, multiStep } = update.result;
      return { type: multiStep ? 'async_tool_result' : 'tool_result', call_id: callId, name, result };
    }
    case 'turn_ended':
      return update.outcome === 'failed'
        ? { type: 'error', message: update.error ?? 'The assistant could not finish its answer.' }
        : { type: 'complete' };
    case 'cut':
      return { type: 'error', message: CUT[update.reason] };
  }
  return update satisfies never;
}

/** The error messages of a stream that ends before its turn. */
const CUT = {
  deleted: 'This thread was deleted while the answer was being written.',
  draining: 'The service is restarting. The answer goes on: read it with GET /api/thread/state.',
  replaced:
    'The answer was started again, and what was shown of it no longer holds. Read the new answer with GET /api/thread/state.',
} as const satisfies Record<CutReason, string>;

/** The final event of a stream whose feed ended unexpectedly. */
export const BROKEN_OFF: JsonObject = {
  type: 'error',
  message: 'The stream broke off. The answer goes on: read it with GET /api/thread/state.',
};
