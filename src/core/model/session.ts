import type { UserState } from './user-state.js';
import type { PendingRequest } from './wallet-request.js';
import { RefusedError } from './refusal.js';
import { wellFormed } from './text.js';

export const PLACEHOLDER_TITLE = 'New Chat';

/** Shared by the many sessions that wait for no wallet. */
export const NOTHING_PENDING: readonly PendingRequest[] = [];

/** The origin of a title. An automatic title never overwrites one that a person set. */
export type TitleSource = 'placeholder' | 'automatic' | 'person';

export type SessionStatus = 'idle' | 'processing' | 'interrupted';

/** A session without its messages. Its id is also its thread's id. */
export interface Session {
  readonly id: string;
  readonly title: string;
  readonly titleSource: TitleSource;
  readonly wallet: string | null;
  /** The selected rig; null: the App's default. */
  readonly rig: string | null;
  /** The digest of the id of the client whose secrets the session's tools use; null until one is bound. */
  readonly client: string | null;
  /** The App of the last message; null before the first. */
  readonly app: string | null;
  readonly userState: UserState | null;
  /** True if the last turn was interrupted and no turn has followed. */
  readonly interrupted: boolean;
  /** Archived threads stay readable and usable. */
  readonly archived: boolean;
  /** What the wallet is asked to sign, in order of the ids. */
  readonly pending: readonly PendingRequest[];
  readonly createdAt: number;
  /** The time of the last activity, in milliseconds since the epoch. */
  readonly activeAt: number;
  /** The id of the newest logged event; 0 before the first. */
  readonly lastEventId: number;
  /** Increases by one with every stored change that a snapshot or a stream can show. 0: not stored. */
  readonly revision: number;
  /** Increases by one with every change of a `SessionFields` field, for compare-and-set. */
  readonly version: number;
}

/** The fields that a request can set. */
export type SessionFields = Partial<
  Pick<Session, 'title' | 'titleSource' | 'wallet' | 'rig' | 'client' | 'app' | 'userState' | 'archived'>
>;

/** An entry of a list of threads. */
export type ThreadSummary = Pick<Session, 'id' | 'title' | 'archived' | 'createdAt' | 'activeAt'>;

/** Creates a session that is not stored yet. */
export function newSession(id: string, at: number): Session {
  return {
    id,
    title: PLACEHOLDER_TITLE,
    titleSource: 'placeholder',
    wallet: null,
    rig: null,
    client: null,
    app: null,
    userState: null,
    interrupted: false,
    archived: false,
    pending: NOTHING_PENDING,
    createdAt: at,
    activeAt: at,
    lastEventId: 0,
    revision: 0,
    version: 0,
  };
}

/** The maximum length of a title, in code points. */
const MAX_TITLE = 200;
const EVM_ADDRESS = /^(?:eip155:[1-9]\d{0,15}:)?0x[0-9a-f]{40}$/i;

/**
 * Normalizes a wallet address: EVM addresses, with or without a chain (CAIP-10), to lower case; others stay unchanged.
 * @throws RefusedError `invalid` unless it has 1 to 128 characters
 */
export function walletAddress(text: string): string {
  const trimmed = wellFormed(text).trim();
  if (trimmed.length < 1 || trimmed.length > 128) {
    const message = 'public_key must be a wallet address of 1 to 128 characters';
    throw new RefusedError('invalid', message, [{ path: 'public_key', message }]);
  }
  return EVM_ADDRESS.test(trimmed) ? trimmed.toLowerCase() : trimmed;
}

/**
 * Validates and trims a title that a person entered.
 * @throws RefusedError `invalid` unless it has 1 to 200 characters
 */
export function personTitle(text: string): string {
  const trimmed = wellFormed(text).trim();
  if (trimmed.length < 1 || Array.from(trimmed).length > MAX_TITLE) {
    const message = 'title must have 1 to 200 characters';
    throw new RefusedError('invalid', message, [{ path: 'title', message }]);
  }
  return trimmed;
}

const BRANCH_OF = 'Branch of ';

/** Returns the title of a branch: that of its source, marked once however often it is branched. */
export function branchTitle(title: string): string {
  const marked = title.startsWith(BRANCH_OF) ? title : BRANCH_OF + title;
  return Array.from(marked).slice(0, MAX_TITLE).join('');
}

/**
 * Refers to a session. An unknown id is `not_found` with `refuse`; with `create`, the session exists in memory until
 * the first write stores it.
 */
export interface SessionRef {
  readonly id: string;
  readonly ifUnknown: 'create' | 'refuse';
}

/** The prefix of EVM accounts in CAIP-10: `eip155:10:0x…`. */
export const CHAIN_PREFIX = 'eip155:';

/** True for an address of an EVM chain, without the chain. */
export function isEvmAddress(text: string | null): text is string {
  return text !== null && /^0x[0-9a-f]{40}$/i.test(text);
}

/** Returns the address of an owner without its chain. */
export function addressOf(owner: string): string {
  return owner.startsWith(CHAIN_PREFIX) ? owner.slice(owner.lastIndexOf(':') + 1) : owner;
}
