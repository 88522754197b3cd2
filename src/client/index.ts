import { currentClient } from './current/client.js';
import { legacyClient } from './legacy/client.js';
import { randomId } from './random-id.js';
import type { Client, ClientOptions } from './types.js';
import { Wire } from './wire.js';

export { ClientError, type ClientErrorKind, type ErrorDetail } from './error.js';
export type {
  ChatMessage,
  Client,
  ClientOptions,
  Exchange,
  JsonObject,
  JsonValue,
  SendOptions,
  SessionEvent,
  SessionState,
  SurfaceName,
  ThreadSummary,
  ToolProgress,
  WireEvent,
} from './types.js';

/** A client of a service, for one session. Nothing is sent before a method is called. */
export function createClient(options: ClientOptions): Client {
  // The service keeps ids in lower case, and compares them so.
  const wire = new Wire(options, (options.sessionId ?? randomId()).toLowerCase());
  return options.surface === 'legacy' ? legacyClient(wire, options) : currentClient(wire, options);
}
