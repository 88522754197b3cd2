import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { askCurrent } from '../current/ask.js';
import { CurrentCalls } from '../current/calls.js';
import { resumeCurrent } from '../current/resume.js';
import { readRunning, readThread, type RunningTurn } from '../current/running-turn.js';
import type { ClientOptions, SendOptions, SessionEvent } from '../types.js';
import { baseOf, Wire } from '../wire.js';
import { ChatSession, type Sending, type Session } from './chat-session.js';
import { messageToSend, type MessageToSend } from './message-to-send.js';
import type { Reply } from './reply.js';
import { uiMessagesOf } from './stored-messages.js';

export { isDiscarded } from './turn-chunks.js';

/** The options of a transport. */
export interface DiptychChatTransportOptions extends Omit<ClientOptions, 'sessionId' | 'surface'> {
  /** Returns what is sent with each message, such as the wallet. */
  readonly sendOptions?: () => Pick<SendOptions, 'wallet' | 'userState'>;
  /**
   * True: an abort also interrupts the turn on the service, so that the `stop` of `useChat` suffices as a Stop button.
   * By default an abort only ends the reading, because `useChat` of `ai` 7 aborts whenever its component is unmounted
   * or shows another chat; the reply goes on, and `interrupt` stops it.
   */
  readonly interruptOnAbort?: boolean;
  /** Called when an interrupt by `interruptOnAbort` failed, which `useChat` does not report. */
  readonly onInterruptError?: (error: unknown) => void;
  /**
   * Called when a chat continues in a branch, a session of its own, because a message was changed or a reply generated
   * again. The id of the chat stays the same; `loadMessages` and a later visit take the id of the session.
   */
  readonly onBranch?: (branch: { readonly chatId: string; readonly sessionId: string }) => void;
}

/** The most stored messages that the service returns at once. */
const HISTORY = 1000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A transport of the AI SDK over the current surface. The id of a chat is the id of its session, a UUID. The service
 * keeps the conversation: only the text of the last message is sent. A changed message and another reply go into a
 * branch, in which the chat continues.
 *
 * Create one transport, outside of components: it remembers where the messages of its chats are stored and which
 * replies are being read. Without that memory, `regenerate` and edits fail, and an interrupt can miss a message that is
 * being sent, or cancel the one after it.
 */
export class DiptychChatTransport<M extends UIMessage = UIMessage> implements ChatTransport<M> {
  /** Marks, for the AI SDK, that a resumed stream begins with the first character of the reply. */
  readonly resumeStreamIsReplay = true;
  /** The sessions of chats, by the id of the chat in lower case. */
  readonly #chats = new Map<string, ChatSession>();

  /** @throws TypeError when `url` is neither empty nor a path nor an http(s) URL, or has a password or a query */
  constructor(private readonly options: DiptychChatTransportOptions) {
    baseOf(options.url);
  }

  /** Returns the id of the session that a chat is in: that of the chat, or that of its last branch. */
  sessionIdOf(chatId: string): string {
    return this.#chat(chatId).id;
  }

  /**
   * Sends the last message and returns the chunks of its reply. Another version of a message or of a reply is sent in a
   * branch. An abort ends the chunks; the reply goes on, unless the abort precedes the sending of the message.
   * @throws Error for what the service does not support, such as files
   */
  async sendMessages(
    request: Pick<
      Parameters<ChatTransport<M>['sendMessages']>[0],
      'trigger' | 'chatId' | 'messageId' | 'messages' | 'abortSignal'
    >,
  ): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId, abortSignal } = request;
    const message = messageToSend(request);
    const chat = this.#chat(chatId);
    chat.leftOut = undefined;
    const isBranch = message.isAnother && !chat.isUnacknowledged(message.id);
    let sending = isBranch ? undefined : chat.sending(message.id, message.text);
    return chat.reply(abortSignal, async (reply) => {
      await chat.interrupted();
      reply.left.throwIfAborted();
      if (isBranch) {
        const sessionId = await chat.branchBefore(message.id);
        reply.left.throwIfAborted();
        chat.moveTo(sessionId);
        sending = chat.sending(message.id, message.text);
        this.options.onBranch?.({ chatId, sessionId });
      }
      const session = this.#open(chat.id);
      this.#interruptOnAbort(chat, reply, abortSignal);
      return reply.chunks({
        wire: session.wire,
        events: (signal, onAccepted) => this.#ask(chat, session, message, { ...sending, signal, onAccepted }),
      });
    });
  }

  /**
   * Returns the chunks of the running turn from its beginning; null if no turn is running.
   * @throws ClientError when the state cannot be read
   */
  async reconnectToStream(request: {
    readonly chatId: string;
    readonly abortSignal?: AbortSignal | undefined;
  }): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId, abortSignal } = request;
    const chat = this.#chat(chatId);
    return chat.reply(abortSignal, async (reply) => {
      chat.lastResumed = reply;
      const session = this.#open(chat.id);
      const turn = chat.leftOut ?? (await readRunning(session.calls, reply.left));
      reply.left.throwIfAborted();
      if (turn === undefined) {
        session.wire.close();
        reply.end();
        return null;
      }
      this.#interruptOnAbort(chat, reply, abortSignal);
      return reply.chunks({
        wire: session.wire,
        events: (signal, onAccepted) => {
          onAccepted();
          return this.#resume(chat, session, turn, signal);
        },
      });
    });
  }

  /**
   * Stops the turn that is running in a chat, and cancels the messages that wait. The chunks of the reply end with an
   * abort.
   * @throws ClientError when the service could not be reached: the turn may run on
   */
  async interrupt(chatId: string): Promise<void> {
    await this.#chat(chatId).interrupt();
  }

  /**
   * Returns the last 1000 stored messages of a chat, for the `messages` of `useChat`. Leaves out the reply of a running
   * turn, which `reconnectToStream` returns, and the messages that wait behind it.
   */
  async loadMessages(chatId: string): Promise<M[]> {
    const chat = this.#chat(chatId);
    const { id, wire, calls } = this.#open(chat.id);
    try {
      const thread = await readThread(calls, HISTORY);
      chat.loaded(id, thread);
      return uiMessagesOf(thread) as M[];
    } finally {
      wire.close();
    }
  }

  #chat(chatId: string): ChatSession {
    if (!UUID.test(chatId))
      throw new Error(
        'The id of a chat must be a UUID: pass `id` to useChat, for example crypto.randomUUID()',
      );
    const id = chatId.toLowerCase();
    const chat = this.#chats.get(id) ?? new ChatSession(id, (sessionId) => this.#open(sessionId));
    this.#chats.set(id, chat);
    return chat;
  }

  #open(id: string): Session {
    const wire = new Wire(this.options, id);
    return { id, wire, calls: new CurrentCalls(wire, this.options) };
  }

  async *#ask(
    chat: ChatSession,
    { id: sessionId, wire, calls }: Session,
    { id, text }: MessageToSend,
    {
      onAccepted,
      ...sending
    }: Partial<Sending> & { readonly signal: AbortSignal; readonly onAccepted: () => void },
  ): AsyncGenerator<SessionEvent, void, undefined> {
    const options = { ...this.options.sendOptions?.(), ...sending };
    let turn: RunningTurn | undefined;
    const events = askCurrent(wire, calls, text, options, ({ turnId, ordinal }) => {
      if (turnId !== null && ordinal !== undefined) turn = { turnId, ordinal };
      chat.acknowledged(id, turnId === null ? undefined : { sessionId, turnId });
      onAccepted();
    });
    for await (const event of events) {
      // From here on, the chat may have a part of the reply.
      if (event.type === 'turn_started' && sessionId === chat.id) chat.leftOut = turn;
      yield event;
    }
    if (chat.leftOut === turn) chat.leftOut = undefined;
  }

  async *#resume(
    chat: ChatSession,
    { wire, calls }: Session,
    turn: RunningTurn,
    signal: AbortSignal,
  ): AsyncGenerator<SessionEvent, void, undefined> {
    yield* resumeCurrent(wire, calls, turn, signal);
    if (chat.leftOut === turn) chat.leftOut = undefined;
  }

  #interruptOnAbort(chat: ChatSession, reply: Reply, abortSignal: AbortSignal | undefined): void {
    if (this.options.interruptOnAbort !== true) return;
    const isResumed = reply === chat.lastResumed;
    reply.left.addEventListener('abort', () => {
      if (abortSignal?.aborted !== true) return;
      // The AI SDK also aborts a resumed stream that it replaces, and resumes again synchronously.
      const isReplaced = (): boolean => isResumed && reply !== chat.lastResumed;
      chat.interrupt(isReplaced).catch((error: unknown) => this.options.onInterruptError?.(error));
    });
  }
}
