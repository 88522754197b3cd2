import { wellFormed } from '../../../client/well-formed.js';
import { randomId } from '../../../client/random-id.js';
import { Observable, type Readable } from '../../parts/observable.js';
import { MAX_STORED, readStored, readStoredJson, store, storedNames } from '../../parts/storage.js';
import { UUID } from '../threads/uuid.js';
import type { KeptThread } from '../threads/kept-threads.js';

/** The text of a thread that the service has not accepted yet. */
interface Draft {
  /** The text in the message input. */
  readonly text: string;
  /** The messages that are being sent. */
  readonly sending: readonly Unsent[];
  /** The messages that were being sent when the page was reloaded: the service may have accepted them. */
  readonly unconfirmed: readonly Unsent[];
  /** The sent message that is being edited. */
  readonly edit: Edit | null;
}

interface Edit {
  readonly messageId: string;
  readonly text: string;
}

/** A message that is being sent. */
export interface Unsent {
  readonly text: string;
  /** The number of user messages that precede it in the thread; null: unknown. */
  readonly after: number | null;
}

const NONE: Draft = { text: '', sending: [], unconfirmed: [], edit: null };

const PREFIX = 'diptych.draft.';
/** The storage key of the session id of the last new thread in this tab. */
const NEW = 'diptych.new-thread';
/** Maximum number of drafts; the least recently changed one is removed first. */
const MAX_DRAFTS = 50;

/**
 * The drafts of a tab, by session. They are kept in `sessionStorage`, to survive a reload; a draft that does not fit
 * there is kept in memory only. A draft is forgotten with its thread.
 */
export class Drafts {
  /** Changes whenever a message was restored to a draft. */
  readonly restored = new Observable(0);
  /** Least recently changed first. */
  readonly #drafts = readDrafts();
  /** By session: the message to send once the session is open, such as the first one of a branch. */
  readonly #handedOver = new Map<string, string>();
  #newest = readStored('tab', NEW) ?? '';

  /** @param threads the threads of this browser; the draft of a thread that is removed from them is forgotten */
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

  /** Returns the changed text of a sent message. Undefined: the message is not being edited. */
  editOf(sessionId: string, messageId: string): string | undefined {
    const { edit } = this.#of(sessionId);
    return edit?.messageId === messageId ? edit.text : undefined;
  }

  /**
   * Stores the changed text of a sent message. A session has one such text: the last one.
   * @param text null: the message is no longer edited
   */
  writeEdit(sessionId: string, messageId: string, text: string | null): void {
    const draft = this.#of(sessionId);
    if (text !== null) this.#set(sessionId, { ...draft, edit: { messageId, text } });
    else if (draft.edit?.messageId === messageId) this.#set(sessionId, { ...draft, edit: null });
  }

  /** True while a message of a session is being sent and the service has not accepted it. */
  isSending(sessionId: string): boolean {
    return this.#of(sessionId).sending.length > 0;
  }

  /**
   * Stores a message until the service has accepted it. If sending fails, restores the message to the draft, unless the
   * thread was forgotten.
   * @throws the error of `deliver`
   */
  async send(sessionId: string, message: Unsent, deliver: () => Promise<void>): Promise<void> {
    this.#set(sessionId, { ...this.#of(sessionId), sending: [...this.#of(sessionId).sending, message] });
    /** Removes the message from those that are being sent. Returns false if it was forgotten with its thread. */
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
      if (end()) this.#restore(sessionId, [message]);
      throw error;
    }
    end();
    if (sessionId === this.#newest) this.#setNewest('');
  }

  /**
   * Restores the messages that were being sent when the page was reloaded, unless the service accepted them.
   * @param arrived the texts of the session's user messages, oldest first
   */
  recover(sessionId: string, arrived: readonly string[]): void {
    const { unconfirmed, ...rest } = this.#of(sessionId);
    if (unconfirmed.length === 0) return;
    this.#set(sessionId, { ...rest, unconfirmed: [] });
    const lost = unconfirmed.filter(
      ({ text, after }) => !arrived.slice(after ?? -unconfirmed.length).includes(wellFormed(text)),
    );
    this.#restore(sessionId, lost);
  }

  /** Keeps a message for another session, which sends it once it is open. */
  handOver(sessionId: string, text: string): void {
    this.#handedOver.set(sessionId, text);
  }

  /** Returns and removes the message that was handed over to a session. */
  takeHandedOver(sessionId: string): string | undefined {
    const text = this.#handedOver.get(sessionId);
    this.#handedOver.delete(sessionId);
    return text;
  }

  /**
   * Returns the session id for a new thread: the last new thread's, if that is not open and has a draft. Never returns
   * a thread that was opened by a link, because others can read it.
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

  /**
   * Moves the text in the message input of a session that is gone to a new thread.
   * @returns the session id of the new thread
   */
  moveToNewThread(sessionId: string): string {
    const text = this.textOf(sessionId);
    this.write(sessionId, '');
    const id = this.newThread(sessionId);
    if (text !== '') this.#restore(id, [{ text, after: null }]);
    return id;
  }

  #of(sessionId: string): Draft {
    return this.#drafts.get(sessionId) ?? NONE;
  }

  /** Inserts messages before the text of a draft. */
  #restore(sessionId: string, messages: readonly Unsent[]): void {
    if (messages.length === 0) return;
    const draft = this.#of(sessionId);
    const text = [...messages.map((message) => message.text), draft.text]
      .filter((part) => part !== '')
      .join('\n\n');
    this.#set(sessionId, { ...draft, text });
    this.restored.set(this.restored.get() + 1);
  }

  #set(sessionId: string, draft: Draft): void {
    this.#drafts.delete(sessionId);
    const { text, sending, unconfirmed, edit } = draft;
    const unsent = [...unconfirmed, ...sending];
    if (text === '' && unsent.length === 0 && edit === null) {
      store('tab', PREFIX + sessionId, '');
      return;
    }
    this.#drafts.set(sessionId, draft);
    for (const old of [...this.#drafts.keys()].slice(0, -MAX_DRAFTS)) this.#set(old, NONE);
    const isStored = [edit, null].some((kept) => {
      const value = JSON.stringify({ text, sending: unsent, edit: kept, at: Date.now() });
      return value.length <= MAX_STORED && store('tab', PREFIX + sessionId, value);
    });
    // Otherwise a reload would restore an older version, which could be sent by mistake.
    if (!isStored) store('tab', PREFIX + sessionId, '');
  }

  #setNewest(id: string): void {
    this.#newest = id;
    store('tab', NEW, id);
  }
}

/** Reads the stored drafts, and removes invalid values. */
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
  const unconfirmed = sent.flatMap(readUnsent);
  const at = 'at' in value && typeof value.at === 'number' ? value.at : 0;
  const edit = 'edit' in value ? readEdit(value.edit) : null;
  return { id, draft: { text: value.text, sending: [], unconfirmed, edit }, at };
}

function readEdit(value: unknown): Edit | null {
  if (typeof value !== 'object' || value === null) return null;
  if (!('text' in value) || typeof value.text !== 'string') return null;
  if (!('messageId' in value) || typeof value.messageId !== 'string') return null;
  return { messageId: value.messageId, text: value.text };
}

function readUnsent(value: unknown): Unsent | [] {
  if (typeof value !== 'object' || value === null) return [];
  if (!('text' in value) || typeof value.text !== 'string') return [];
  const after = 'after' in value && typeof value.after === 'number' ? value.after : null;
  return { text: value.text, after };
}
