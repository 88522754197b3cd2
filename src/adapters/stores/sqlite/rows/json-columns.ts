import { isJsonObject } from '../../../../core/model/json.js';
import type { EventBody } from '../../../../core/model/event.js';
import type { ToolCall, ToolResult } from '../../../../core/model/message.js';
import {
  areNumbers,
  areTexts,
  isDurations,
  isEventBody,
  isListOf,
  isToolCall,
  isToolResult,
} from '../../../../core/model/stored-shapes.js';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import type { DurationCounts } from '../../../../core/ports/overview-store.js';
import type { UserState } from '../../../../core/model/user-state.js';
import {
  VERDICT_WORDS,
  type PendingRequest,
  type WalletClaim,
  type WalletPayload,
  type WalletVerification,
} from '../../../../core/model/wallet-request.js';

/** Parses a JSON column. @throws StoreUnavailableError when it does not have the expected shape: the file is damaged */
function parse<T>(text: string, what: string, fits: (value: unknown) => value is T): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new StoreUnavailableError(`the database is damaged: ${what} is not JSON`, { cause: error });
  }
  if (fits(value)) return value;
  throw new StoreUnavailableError(`the database is damaged: ${what} does not have the expected shape`);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseUserState(text: string): UserState {
  return parse(text, 'a user state', isUserState);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseToolCalls(text: string): readonly ToolCall[] {
  return parse(text, 'a list of tool calls', (value) => isListOf(value, isToolCall));
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseToolResults(text: string): readonly ToolResult[] {
  return parse(text, 'a list of tool results', (value) => isListOf(value, isToolResult));
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseEventBody(text: string): EventBody {
  return parse(text, 'an event', isEventBody);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseApps(text: string): readonly string[] {
  return parse(text, 'a list of Apps', (value) => isListOf(value, (item) => typeof item === 'string'));
}

/** @throws StoreUnavailableError when the file is damaged */
export function parsePending(text: string): readonly PendingRequest[] {
  return parse(text, 'a list of pending wallet requests', (value) => isListOf(value, isPendingRequest));
}

/** @throws StoreUnavailableError when the file is damaged */
export function parsePayload(text: string): WalletPayload {
  return parse(text, 'the payload of a wallet request', isPayload);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseClaim(text: string): WalletClaim {
  return parse(text, 'the claim of a wallet', isClaim);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseVerification(text: string): WalletVerification {
  return parse(text, 'the verification of a claim', isVerification);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseDurations(text: string): DurationCounts {
  return parse(text, 'counts of durations', isDurations);
}

function isPendingRequest(value: unknown): value is PendingRequest {
  if (!isJsonObject(value)) return false;
  const { id, app, wallet, chainId, label, payload, expiresAt } = value;
  return areNumbers(id, chainId, expiresAt) && areTexts(app, wallet, label) && isPayload(payload);
}

function isPayload(value: unknown): value is WalletPayload {
  if (!isJsonObject(value)) return false;
  if (value.kind === 'signature') {
    return (value.typedData === null || isJsonObject(value.typedData)) && isTextOrNull(value.text);
  }
  const { kind, to, value: wei, data, gas, nonce, after } = value;
  return (
    kind === 'transaction' &&
    areTexts(to, wei, data) &&
    isTextOrNull(gas) &&
    areNumbers(nonce) &&
    isListOf(after, (item) => typeof item === 'number')
  );
}

function isClaim(value: unknown): value is WalletClaim {
  if (!isJsonObject(value) || !isTextOrNull(value.proof) || !isTextOrNull(value.error)) return false;
  return value.status === 'success' || value.status === 'failed';
}

function isVerification(value: unknown): value is WalletVerification {
  if (!isJsonObject(value)) return false;
  const { verdict, detail, at } = value;
  return typeof verdict === 'string' && verdict in VERDICT_WORDS && areTexts(detail) && areNumbers(at);
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isUserState(value: unknown): value is UserState {
  return isJsonObject(value) && isJsonObject(value.tree) && typeof value.flat === 'boolean';
}
