import { Observable } from '../../parts/observable.js';
import { readStoredJson, store, storedNames } from '../../parts/storage.js';
import { UUID } from './uuid.js';

/**
 * Whether the person's wallet is used in a thread. `own`: it is. `ask`: the thread was opened by a link, and the person
 * has not decided. `without`: the person decided against it.
 */
export type WalletUse = 'own' | 'ask' | 'without';

/** A thread that this browser keeps. Its id is all that it takes to read it and to write to it. */
export interface KeptThread {
  readonly sessionId: string;
  readonly title: string;
  /** The time of its last message, in milliseconds since the epoch. */
  readonly at: number;
  /** When this browser opened it last, in milliseconds since the epoch. */
  readonly openedAt: number;
  readonly walletUse: WalletUse;
}

const PREFIX = 'diptych.thread.';
/** Maximum number of threads; the one whose last message is the oldest makes room. */
const MAX_THREADS = 500;
/** Maximum number of threads that make room for one in a full storage. */
const MAX_EVICTED = 5;
/** Maximum length of a title, in characters. */
const MAX_TITLE = 200;

/**
 * The threads of this browser, newest first, each under a name of its own in `localStorage`, so that tabs do not
 * overwrite each other's.
 */
export class KeptThreads extends Observable<readonly KeptThread[]> {
  constructor() {
    super([]);
    this.#reload();
    addEventListener('storage', ({ key }) => {
      if (key === null || key.startsWith(PREFIX)) this.#reload();
    });
  }

  find(sessionId: string): KeptThread | undefined {
    return this.get().find((thread) => thread.sessionId === sessionId);
  }

  /** Returns the thread that was opened last. */
  last(): KeptThread | undefined {
    return this.get().toSorted((one, other) => other.openedAt - one.openedAt)[0];
  }

  keep(thread: KeptThread): void {
    const { sessionId, title, ...rest } = thread;
    const text = JSON.stringify({ title: title.slice(0, MAX_TITLE), ...rest });
    for (const { sessionId: old } of this.#others(sessionId).slice(MAX_THREADS - 1)) this.#remove(old);
    // A full storage: the oldest threads make room, unless something else fills it.
    for (let room = 0; !store('browser', PREFIX + sessionId, text); room++) {
      const oldest = this.#others(sessionId).at(-1);
      if (oldest === undefined || room === MAX_EVICTED) return;
      this.#remove(oldest.sessionId);
    }
    this.#reload();
  }

  rename(sessionId: string, title: string): void {
    const thread = this.find(sessionId);
    if (thread !== undefined) this.keep({ ...thread, title });
  }

  forget(sessionId: string): void {
    this.#remove(sessionId);
  }

  #others(sessionId: string): readonly KeptThread[] {
    return this.get().filter((thread) => thread.sessionId !== sessionId);
  }

  #remove(sessionId: string): void {
    store('browser', PREFIX + sessionId, '');
    this.set(this.#others(sessionId));
  }

  #reload(): void {
    const threads = storedNames('browser', PREFIX).flatMap((name) => readThread(name) ?? []);
    this.set(threads.toSorted((one, other) => other.at - one.at));
  }
}

/** Reads a thread. Undefined if something else is stored there. */
function readThread(name: string): KeptThread | undefined {
  const sessionId = name.slice(PREFIX.length);
  const value = readStoredJson('browser', name);
  if (!UUID.test(sessionId) || typeof value !== 'object' || value === null) return undefined;
  if (!('title' in value) || typeof value.title !== 'string') return undefined;
  const title = value.title.slice(0, MAX_TITLE);
  const at = 'at' in value ? timeOf(value.at) : 0;
  const openedAt = 'openedAt' in value ? timeOf(value.openedAt) : 0;
  // Anything unknown asks, because it is the choice that gives nothing away.
  const use = 'walletUse' in value ? value.walletUse : undefined;
  const walletUse = use === 'own' || use === 'without' ? use : 'ask';
  return { sessionId, title, at, openedAt, walletUse };
}

function timeOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(value, Date.now()) : 0;
}
