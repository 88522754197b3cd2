import { currentClient } from './current/client.js';
import { legacyClient } from './legacy/client.js';
import { randomId } from './random-id.js';
import type { Client, ClientOptions } from './types.js';
import { Wire } from './wire.js';

export { pendingRequests, type PendingRequest } from './pending.js';
export { ClientError, type ClientErrorKind, type ErrorDetail } from './error.js';
export type {
  AppDetails,
  AppSecret,
  ChatMessage,
  Client,
  ClientOptions,
  Exchange,
  HistoryCall,
  HistoryMessage,
  HistoryPage,
  HistoryTurn,
  JsonObject,
  JsonValue,
  RigDetails,
  SecretSlot,
  SendOptions,
  SessionEvent,
  SessionState,
  SurfaceName,
  ThreadSummary,
  ToolProgress,
  WalletProof,
  WalletReport,
  WireEvent,
} from './types.js';

/**
 * Creates a client for one session of a service. Sends nothing until a method is called.
 * @throws TypeError when `url` is neither empty nor a path nor an http(s) URL, or has a password, a query or a fragment
 */
export function createClient(options: ClientOptions): Client {
  // The service stores and compares ids in lower case.
  const wire = new Wire(options, (options.sessionId ?? randomId()).toLowerCase());
  return options.surface === 'legacy' ? legacyClient(wire, options) : currentClient(wire, options);
}
