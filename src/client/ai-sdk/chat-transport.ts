import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { askCurrent } from '../current/ask.js';
import { CurrentCalls } from '../current/calls.js';
import { resumeCurrent } from '../current/resume.js';
import { lastPage } from '../last-page.js';
import { runningTurn, type RunningTurn } from '../messages.js';
import type { ClientOptions, SendOptions, SessionEvent } from '../types.js';
import { Wire } from '../wire.js';
import { ChatSession, type Sending, type Session } from './chat-session.js';
import { messageToSend, type MessageToSend } from './message-to-send.js';
import { uiMessagesOf } from './stored-messages.js';
import { TurnChunks } from './turn-chunks.js';

export { isDiscarded } from './turn-chunks.js';

/** The options of a transport. */
export interface DiptychChatTransportOptions extends Omit<ClientOptions, 'sessionId' | 'surface'> {
  /** Returns what is sent with each message, such as the wallet. */
  readonly sendOptions?: () => Pick<SendOptions, 'wallet' | 'userState'>;
  /** Called when the request to interrupt a turn failed, which `useChat` does not report. */
  readonly onInterruptError?: (error: unknown) => void;
  /**
   * Called when a chat continues in a branch, a session of its own, because a message was changed or a reply generated
   * again. The id of the chat stays the same; `loadMessages` and a later visit take the id of the session.
   */
  readonly onBranch?: (branch: { readonly chatId: string; readonly sessionId: string }) => void;
}

/** Number of attempts to read a state and a history that belong together. */
const READS = 3;
/** The most stored messages that the service returns at once. */
const HISTORY = 1000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A transport of the AI SDK over the current surface. The id of a chat is the id of its session, a UUID. The service
 * keeps the conversation: only the text of the last message is sent. A changed message and another reply go into a
 * branch, in which the chat continues.
 */
export class DiptychChatTransport<M extends UIMessage = UIMessage> implements ChatTransport<M> {
  /** Marks, for the AI SDK, that a resumed stream begins with the first character of the reply. */
  readonly resumeStreamIsReplay = true;
  /** The interrupts of chats that are on their way. */
  readonly #interrupts = new Map<string, Promise<void>>();
  /** The turns whose replies `loadMessages` has left out. */
  readonly #left = new Map<string, RunningTurn>();
  /** The number of the last call of `reconnectToStream` by chat. */
  readonly #resumes = new Map<string, number>();
  /** The sessions of chats, by the id of the chat in lower case. */
  readonly #chats = new Map<string, ChatSession>();

  constructor(private readonly options: DiptychChatTransportOptions) {}

  /** Returns the id of the session that a chat is in: that of the chat, or that of its last branch. */
  sessionIdOf(chatId: string): string {
    return this.#chat(chatId).id;
  }

  /**
   * Sends the last message and returns the chunks of its reply. An abort interrupts the turn. Another version of a
   * message or of a reply is sent in a branch.
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
    this.#left.delete(chat.id);
    const isBranch = message.isAnother && !chat.isUnacknowledged(message.id);
    let sending = isBranch ? undefined : chat.sending(message.id, message.text);
    // An interrupt that arrives after the message would cancel it.
    await this.#interrupts.get(chat.id);
    abortSignal?.throwIfAborted();
    if (isBranch) {
      const sessionId = await chat.branchBefore(message.id);
      abortSignal?.throwIfAborted();
      chat.moveTo(sessionId);
      sending = chat.sending(message.id, message.text);
      this.options.onBranch?.({ chatId, sessionId });
    }
    const session = this.#open(chat.id);
    return this.#stream(session, {
      events: (signal, onAccepted) => this.#ask(chat, session, message, { ...sending, signal, onAccepted }),
      abortSignal,
      isStop: () => Promise.resolve(true),
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
    const session = this.#open(this.#chat(chatId).id);
    const resume = (this.#resumes.get(session.id) ?? 0) + 1;
    this.#resumes.set(session.id, resume);
    const snapshot = await session.calls.snapshot(abortSignal && { signal: abortSignal });
    const turn = this.#left.get(session.id) ?? (snapshot && runningTurn(snapshot.state));
    if (turn === undefined) {
      session.wire.close();
      return null;
    }
    return this.#stream(session, {
      events: (signal, onAccepted) => {
        onAccepted();
        return this.#resume(session, turn, signal);
      },
      abortSignal,
      // The AI SDK also aborts a resumed stream that it replaces, and resumes again synchronously.
      isStop: async () => {
        await Promise.resolve();
        return this.#resumes.get(session.id) === resume;
      },
    });
  }

  /**
   * Returns the last 1000 stored messages of a chat, for the `messages` of `useChat`. Leaves out the reply of a running
   * turn, which `reconnectToStream` returns, and the messages that wait behind it.
   */
  async loadMessages(chatId: string): Promise<UIMessage[]> {
    const chat = this.#chat(chatId);
    const { id, wire, calls } = this.#open(chat.id);
    try {
      for (let read = 1; ; read++) {
        const state = await calls.state();
        const { messages: stored } = await lastPage(calls, HISTORY, undefined);
        if (
          read < READS &&
          lastAsked(state.messages.map(({ sender, content }) => ({ role: sender, content }))) !==
            lastAsked(stored)
        )
          continue;
        const running = runningTurn(state);
        if (running === undefined) this.#left.delete(id);
        else this.#left.set(id, running);
        chat.loaded(id, stored);
        return uiMessagesOf(stored, running);
      }
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

  #ask(
    chat: ChatSession,
    { id: sessionId, wire, calls }: Session,
    { id, text }: MessageToSend,
    {
      onAccepted,
      ...sending
    }: Partial<Sending> & { readonly signal: AbortSignal; readonly onAccepted: () => void },
  ): AsyncGenerator<SessionEvent, void, undefined> {
    return askCurrent(wire, calls, text, { ...this.options.sendOptions?.(), ...sending }, (turnId) => {
      chat.acknowledged(id, turnId === null ? undefined : { sessionId, turnId });
      onAccepted();
    });
  }

  async *#resume(
    { id, wire, calls }: Session,
    turn: RunningTurn,
    signal: AbortSignal,
  ): AsyncGenerator<SessionEvent, void, undefined> {
    yield* resumeCurrent(wire, calls, turn, signal);
    this.#left.delete(id);
  }

  #stream(session: Session, source: Source): ReadableStream<UIMessageChunk> {
    const { abortSignal } = source;
    const chunks = new TurnChunks();
    const end = new AbortController();
    let output: ReadableStreamDefaultController<UIMessageChunk> | undefined;
    let accept: () => void = () => undefined;
    const accepted = new Promise<void>((resolve) => (accept = resolve));

    const close = (last?: UIMessageChunk): void => {
      if (last !== undefined) output?.enqueue(last);
      output?.close();
      output = undefined;
    };
    const pump = async (): Promise<void> => {
      try {
        for await (const event of source.events(end.signal, accept)) {
          for (const chunk of chunks.of(event)) output?.enqueue(chunk);
        }
        close();
      } catch (error) {
        output?.error(error);
        output = undefined;
      }
    };
    const stop = async (): Promise<void> => {
      close({ type: 'abort' });
      if (!(await source.isStop()) || chunks.isOver) {
        end.abort();
        return;
      }
      // The service may have received the message, so the interrupt waits for its acceptance.
      const isAccepted = await Promise.race([accepted.then(() => true), pumped.then(() => false)]);
      if (isAccepted) await this.#interrupt(session, end);
    };
    const onAbort = (): void => {
      const stopped = stop().finally(() => {
        if (this.#interrupts.get(session.id) === stopped) this.#interrupts.delete(session.id);
      });
      this.#interrupts.set(session.id, stopped);
    };
    let pumped: Promise<void> = Promise.resolve();
    return new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        output = controller;
        abortSignal?.addEventListener('abort', onAbort, { once: true });
        pumped = pump().finally(() => {
          abortSignal?.removeEventListener('abort', onAbort);
        });
        void pumped.finally(async () => {
          await this.#interrupts.get(session.id);
          session.wire.close();
        });
        if (abortSignal?.aborted === true) onAbort();
      },
      cancel: () => {
        output = undefined;
        // With an abort, `stop` decides when the events end.
        if (abortSignal?.aborted !== true) end.abort();
      },
    });
  }

  /** Interrupts the running turn. Never rejects: reports an error to the callback. */
  async #interrupt({ id, calls }: Session, end: AbortController): Promise<void> {
    end.abort();
    this.#left.delete(id);
    try {
      await calls.interrupt();
    } catch (error) {
      this.options.onInterruptError?.(error);
    }
  }
}

/** Where the chunks of a stream come from. */
interface Source {
  /** @param onAccepted called once the service has stored the message */
  readonly events: (signal: AbortSignal, onAccepted: () => void) => AsyncIterable<SessionEvent>;
  readonly abortSignal: AbortSignal | undefined;
  /** Whether an abort means that the user stops the turn. */
  readonly isStop: () => Promise<boolean>;
}

/** Returns the last message of the user. */
function lastAsked(
  messages: readonly { readonly role: string; readonly content: string }[],
): string | undefined {
  return messages.findLast(({ role }) => role === 'user')?.content;
}
