import type { UserState } from './user-state.js';
import { RefusedError } from './refusal.js';
import { wellFormed } from './text.js';

/** The title of a session that has no other yet. */
export const PLACEHOLDER_TITLE = 'New Chat';

/** Who made a title. One made by a person is never overwritten by an automatic one. */
export type TitleSource = 'placeholder' | 'automatic' | 'person';

/** What a session is doing. */
export type SessionStatus = 'idle' | 'processing' | 'interrupted';

/** What is known of a session beside its messages. Its id is its thread's id. */
export interface Session {
  readonly id: string;
  readonly title: string;
  readonly titleSource: TitleSource;
  readonly wallet: string | null;
  /** The selected rig; null: the App's default. */
  readonly rig: string | null;
  /** The digest of the id of the client whose secrets its tools use, once one was bound to it. */
  readonly client: string | null;
  /** The App of the last message; null before the first. */
  readonly app: string | null;
  readonly userState: UserState | null;
  /** True when the last turn to end was interrupted and none has come since. */
  readonly interrupted: boolean;
  readonly createdAt: number;
  /** The last activity, in milliseconds since the epoch. */
  readonly activeAt: number;
  /** The id of the newest logged event; 0 before the first. */
  readonly lastEventId: number;
  /** Grows by one with every stored change that a snapshot or a stream can show. 0: not stored. */
  readonly revision: number;
  /** Grows by one with every change of title, wallet, rig, App or user state, for compare-and-set. */
  readonly version: number;
}

/** The fields that a request can set. */
export type SessionFields = Partial<
  Pick<Session, 'title' | 'titleSource' | 'wallet' | 'rig' | 'client' | 'app' | 'userState'>
>;

/** A thread as lists show it. */
export type ThreadSummary = Pick<Session, 'id' | 'title' | 'createdAt' | 'activeAt'>;

/** A session that nothing was written to yet. */
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
    createdAt: at,
    activeAt: at,
    lastEventId: 0,
    revision: 0,
    version: 0,
  };
}

const EVM_ADDRESS = /^(?:eip155:[1-9]\d{0,15}:)?0x[0-9a-f]{40}$/i;

/**
 * A wallet address as it is compared and kept: EVM addresses, also those with their chain (CAIP-10), in lower case,
 * others as they are.
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
 * A title as a person gives it: trimmed, 1 to 200 characters.
 * @throws RefusedError `invalid`
 */
export function personTitle(text: string): string {
  const trimmed = wellFormed(text).trim();
  if (trimmed.length < 1 || Array.from(trimmed).length > 200) {
    const message = 'title must have 1 to 200 characters';
    throw new RefusedError('invalid', message, [{ path: 'title', message }]);
  }
  return trimmed;
}

/**
 * Names a session. `refuse`: an unknown one is `not_found`; `create`: it begins to exist, in memory until something is
 * written.
 */
export interface SessionRef {
  readonly id: string;
  readonly ifUnknown: 'create' | 'refuse';
}

/** Of the accounts of EVM chains in CAIP-10: `eip155:10:0x…`. */
export const CHAIN_PREFIX = 'eip155:';

/** The address of an owner, for whoever needs no more than that: without its chain. */
export function addressOf(owner: string): string {
  return owner.startsWith(CHAIN_PREFIX) ? owner.slice(owner.lastIndexOf(':') + 1) : owner;
}
