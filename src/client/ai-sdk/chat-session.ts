import type { CurrentCalls } from '../current/calls.js';
import type { RunningTurn, Thread } from '../current/running-turn.js';
import { randomId } from '../random-id.js';
import type { Wire } from '../wire.js';
import { Reply } from './reply.js';

/** One session of the service. */
export interface Session {
  readonly id: string;
  readonly wire: Wire;
  readonly calls: CurrentCalls;
}

/** Where the service keeps a message of the user: its session, and its own id or that of the turn that it began. */
type Place = { readonly sessionId: string } & ({ readonly messageId: string } | { readonly turnId: string });

/** How a message is sent. */
export interface Sending {
  readonly idempotencyKey: string;
  /** True if the service may have stored the message before. */
  readonly isRepeat: boolean;
}

/** Number of stored messages to read at once. */
const PAGE = 1000;

/**
 * The session of a chat, with the replies that are read in it. A chat begins in the session of its id. Another version
 * of a message or of a reply continues it in a branch, which is a session of its own.
 */
export class ChatSession {
  #id: string;
  /** Where the messages of the user are, by their id in the chat. */
  readonly #places = new Map<string, Place>();
  /** What was last sent of messages that the service has not accepted since, by their id in the chat. */
  readonly #unacknowledged = new Map<string, { readonly text: string; readonly idempotencyKey: string }>();
  /** The turn whose reply is missing from the chat's messages, or is incomplete in them. */
  leftOut: RunningTurn | undefined;
  /** The reply that was resumed last. */
  lastResumed: Reply | undefined;
  /** The replies that are requested or read. */
  readonly #replies = new Set<Reply>();
  /** The interrupts that are on their way. */
  readonly #interrupts = new Set<Promise<void>>();

  constructor(
    chatId: string,
    private readonly open: (sessionId: string) => Session,
  ) {
    this.#id = chatId;
  }

  /** The id of the session that the chat is in. */
  get id(): string {
    return this.#id;
  }

  /** Continues the chat in a branch. */
  moveTo(sessionId: string): void {
    this.#id = sessionId;
    this.leftOut = undefined;
  }

  /**
   * Requests a reply, which an interrupt leaves.
   * @param request resolves once the reply is read, or has ended
   */
  async reply<Chunks>(
    abortSignal: AbortSignal | undefined,
    request: (reply: Reply) => Promise<Chunks>,
  ): Promise<Chunks> {
    const reply = new Reply(abortSignal, () => this.#replies.delete(reply));
    this.#replies.add(reply);
    try {
      return await request(reply);
    } catch (error) {
      reply.end();
      throw error;
    }
  }

  /**
   * Leaves the replies and interrupts the running turn.
   * @param isReplaced called in the next microtask; true prevents the interrupt
   * @throws ClientError if the request fails
   */
  interrupt(isReplaced = (): boolean => false): Promise<void> {
    const interrupt = this.#interrupt(isReplaced).finally(() => this.#interrupts.delete(interrupt));
    this.#interrupts.add(interrupt);
    return interrupt;
  }

  async #interrupt(isReplaced: () => boolean): Promise<void> {
    const replies = [...this.#replies];
    await Promise.resolve();
    if (isReplaced()) return;
    // The service may be receiving a message, whose turn cannot be interrupted before.
    await Promise.all(replies.map((reply) => reply.leave()));
    this.leftOut = undefined;
    const { wire, calls } = this.open(this.#id);
    try {
      await calls.interrupt();
    } finally {
      wire.close();
    }
  }

  /** Resolves when no interrupt is on its way: one that arrives after a message would cancel it. */
  async interrupted(): Promise<void> {
    await Promise.allSettled(this.#interrupts);
  }

  /**
   * Remembers that a message of the user is about to be sent.
   * @returns its idempotency key, which stays the same while the text does and the service has not accepted it
   */
  sending(messageId: string, text: string): Sending {
    const before = this.#unacknowledged.get(messageId);
    if (before?.text === text) return { idempotencyKey: before.idempotencyKey, isRepeat: true };
    const idempotencyKey = randomId();
    this.#unacknowledged.set(messageId, { text, idempotencyKey });
    return { idempotencyKey, isRepeat: false };
  }

  /** True for a message that was sent and not accepted: another version of it needs no branch. */
  isUnacknowledged(messageId: string): boolean {
    return this.#unacknowledged.has(messageId);
  }

  /**
   * Remembers that the service has accepted a message of the user.
   * @param turn the turn that the message began, if known
   */
  acknowledged(
    messageId: string,
    turn: { readonly sessionId: string; readonly turnId: string } | undefined,
  ): void {
    // Messages before it that were never accepted have the same place: a branch before them ends before this message.
    if (turn !== undefined)
      for (const id of [...this.#unacknowledged.keys(), messageId]) this.#places.set(id, turn);
    this.#unacknowledged.clear();
  }

  /** Remembers the stored messages of a session, which have the same ids in the chat. */
  loaded(sessionId: string, { messages, running }: Thread): void {
    if (sessionId === this.#id) this.leftOut = running;
    for (const { id, role } of messages)
      if (role === 'user') this.#places.set(id, { sessionId, messageId: id });
  }

  /**
   * Creates a branch that ends before a message of the user. The chat stays in its session.
   * @returns the id of the session that is the branch
   * @throws Error if the message was neither sent nor loaded here, ClientError if the service refuses the branch
   */
  async branchBefore(messageId: string): Promise<string> {
    const place = this.#places.get(messageId);
    if (place === undefined) throw unknown(messageId);
    // The messages before it are the same in every branch that the chat has been in since.
    const { wire, calls } = this.open(place.sessionId);
    try {
      const before = 'messageId' in place ? place.messageId : await firstOfTurn(calls, place.turnId);
      if (before === undefined) throw unknown(messageId);
      return (await calls.branch(before, randomId())).sessionId;
    } finally {
      wire.close();
    }
  }
}

function unknown(messageId: string): Error {
  return new Error(
    `The transport does not know message ${messageId}: create one transport, outside of components, and pass what its ` +
      'loadMessages returns as the messages of useChat',
  );
}

/** Returns the id of the message that began a turn. Searches from the end of the thread. */
async function firstOfTurn(calls: CurrentCalls, turnId: string): Promise<string | undefined> {
  let before: string | undefined;
  for (;;) {
    const { messages, hasMore } = await calls.historyPage({ limit: PAGE, before });
    const found = messages.find((message) => message.turnId === turnId && message.role === 'user');
    before = messages[0]?.id;
    if (found !== undefined || !hasMore || before === undefined) return found?.id;
  }
}
