import { wellFormed } from '../../../client/well-formed.js';
import { randomId } from '../../../client/random-id.js';
import { Observable, type Readable } from '../../parts/observable.js';
import { MAX_STORED, readStored, readStoredJson, store, storedNames } from '../../parts/storage.js';
import { UUID } from '../threads/uuid.js';
import type { KeptThread } from '../threads/kept-threads.js';

/** What a person has written in a thread, and the service has not accepted yet. */
interface Draft {
  /** The text in the message input. */
  readonly text: string;
  /** The messages that are being sent. */
  readonly sending: readonly Unsent[];
  /** The messages that were being sent when the page was loaded again: they may have arrived. */
  readonly interrupted: readonly Unsent[];
}

/** A message that is being sent. */
export interface Unsent {
  readonly text: string;
  /** The number of messages of users that the thread had before it; null: not known. */
  readonly after: number | null;
}

const NONE: Draft = { text: '', sending: [], interrupted: [] };

const PREFIX = 'diptych.draft.';
/** The name of the id of the last new thread that this tab has opened. */
const NEW = 'diptych.new-thread';
/** Maximum number of drafts; the one that was changed the longest time ago makes room. */
const MAX_DRAFTS = 50;

/**
 * The drafts of a tab, by session. They are in `sessionStorage`, so that a reload loses none; what it has no room for
 * is in memory alone. A draft is forgotten with its thread.
 */
export class Drafts {
  /** Changes whenever a message was given back. */
  readonly returned = new Observable(0);
  /** In the order of their last changes. */
  readonly #drafts = readDrafts();
  /** Messages to send as soon as their sessions are open: those of branches that this page created. */
  readonly #handedOver = new Map<string, string>();
  #newest = readStored('tab', NEW) ?? '';

  /** @param threads the threads of this browser: those that another tab forgets vanish, too */
  constructor(private readonly threads: Readable<readonly KeptThread[]>) {
    let before = threads.get();
    threads.subscribe(() => {
      const kept = new Set(threads.get().map(({ sessionId }) => sessionId));
      for (const { sessionId } of before) if (!kept.has(sessionId)) this.#set(sessionId, NONE);
      before = threads.get();
    });
  }

  /** Returns the text in the message input of a session. */
  textOf(sessionId: string): string {
    return this.#of(sessionId).text;
  }

  write(sessionId: string, text: string): void {
    if (text !== this.textOf(sessionId)) this.#set(sessionId, { ...this.#of(sessionId), text });
  }

  /** True while the service has not accepted a message of a session that is being sent. */
  isSending(sessionId: string): boolean {
    return this.#of(sessionId).sending.length > 0;
  }

  /**
   * Keeps a message until the service has accepted it, and gives it back if that fails, unless its thread was forgotten.
   * @throws the error of `deliver`
   */
  async send(sessionId: string, message: Unsent, deliver: () => Promise<void>): Promise<void> {
    this.#set(sessionId, { ...this.#of(sessionId), sending: [...this.#of(sessionId).sending, message] });
    /** Returns false if the message was forgotten with its thread. */
    const end = (): boolean => {
      const draft = this.#of(sessionId);
      const index = draft.sending.indexOf(message);
      if (index === -1) return false;
      this.#set(sessionId, { ...draft, sending: draft.sending.toSpliced(index, 1) });
      return true;
    };
    try {
      await deliver();
    } catch (error) {
      if (end()) this.#giveBack(sessionId, [message]);
      throw error;
    }
    end();
    if (sessionId === this.#newest) this.#setNewest('');
  }

  /**
   * Gives back the messages that were being sent when the page was loaded again, unless they have arrived.
   * @param arrived the texts of the messages of users in the session, oldest first
   */
  recover(sessionId: string, arrived: readonly string[]): void {
    const { interrupted, ...rest } = this.#of(sessionId);
    if (interrupted.length === 0) return;
    this.#set(sessionId, { ...rest, interrupted: [] });
    const lost = interrupted.filter(
      ({ text, after }) => !arrived.slice(after ?? -interrupted.length).includes(wellFormed(text)),
    );
    this.#giveBack(sessionId, lost);
  }

  /** Has another session send a message as soon as it is open. */
  handOver(sessionId: string, text: string): void {
    this.#handedOver.set(sessionId, text);
  }

  /** Returns the message to send in a session, once. */
  takeHandedOver(sessionId: string): string | undefined {
    const text = this.#handedOver.get(sessionId);
    this.#handedOver.delete(sessionId);
    return text;
  }

  /**
   * Returns the id for a new thread: that of the last one, if it is not open and has a draft. A thread that was opened
   * by a link is never one, because others read it.
   * @param open the id of the open session; null: none
   */
  newThread(open: string | null): string {
    const last = this.#newest;
    const isKept = this.threads.get().some(({ sessionId }) => sessionId === last);
    if (last !== open && !isKept && this.textOf(last) !== '') return last;
    const id = randomId();
    this.#setNewest(id);
    return id;
  }

  #of(sessionId: string): Draft {
    return this.#drafts.get(sessionId) ?? NONE;
  }

  /** Puts messages before what is being written. */
  #giveBack(sessionId: string, messages: readonly Unsent[]): void {
    if (messages.length === 0) return;
    const draft = this.#of(sessionId);
    const text = [...messages.map((message) => message.text), draft.text]
      .filter((part) => part !== '')
      .join('\n\n');
    this.#set(sessionId, { ...draft, text });
    this.returned.set(this.returned.get() + 1);
  }

  #set(sessionId: string, draft: Draft): void {
    this.#drafts.delete(sessionId);
    const { text, sending, interrupted } = draft;
    const unsent = [...interrupted, ...sending];
    if (text === '' && unsent.length === 0) {
      store('tab', PREFIX + sessionId, '');
      return;
    }
    this.#drafts.set(sessionId, draft);
    for (const old of [...this.#drafts.keys()].slice(0, -MAX_DRAFTS)) this.#set(old, NONE);
    const value = JSON.stringify({ text, sending: unsent, at: Date.now() });
    const isStored = value.length <= MAX_STORED && store('tab', PREFIX + sessionId, value);
    // An older version, such as the beginning of the text, could be sent by mistake.
    if (!isStored) store('tab', PREFIX + sessionId, '');
  }

  #setNewest(id: string): void {
    this.#newest = id;
    store('tab', NEW, id);
  }
}

/** Reads the stored drafts, and removes what is none. */
function readDrafts(): Map<string, Draft> {
  const read = storedNames('tab', PREFIX).flatMap((name) => {
    const draft = readDraft(name);
    if (draft === null) store('tab', name, '');
    return draft ?? [];
  });
  return new Map(read.toSorted((one, other) => one.at - other.at).map(({ id, draft }) => [id, draft]));
}

function readDraft(name: string): { readonly id: string; readonly draft: Draft; readonly at: number } | null {
  const id = name.slice(PREFIX.length);
  const value = readStoredJson('tab', name);
  if (!UUID.test(id) || typeof value !== 'object' || value === null) return null;
  if (!('text' in value) || typeof value.text !== 'string') return null;
  const sent: readonly unknown[] = 'sending' in value && Array.isArray(value.sending) ? value.sending : [];
  const interrupted = sent.flatMap(readUnsent);
  const at = 'at' in value && typeof value.at === 'number' ? value.at : 0;
  return { id, draft: { text: value.text, sending: [], interrupted }, at };
}

function readUnsent(value: unknown): Unsent | [] {
  if (typeof value !== 'object' || value === null) return [];
  if (!('text' in value) || typeof value.text !== 'string') return [];
  const after = 'after' in value && typeof value.after === 'number' ? value.after : null;
  return { text: value.text, after };
}
