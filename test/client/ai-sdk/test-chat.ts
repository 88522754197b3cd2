import { AbstractChat, type ChatState, type ChatStatus, type ChatTransport, type UIMessage } from 'ai';

/** The state of a chat without a framework. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined;
  readonly #listeners = new Set<() => void>();
  #messages: UIMessage[];

  constructor(messages: UIMessage[]) {
    this.#messages = messages;
  }

  get messages(): UIMessage[] {
    return this.#messages;
  }

  set messages(messages: UIMessage[]) {
    this.#messages = messages;
    this.#notify();
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.#messages, message];
  };

  popMessage = (): void => {
    this.messages = this.#messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.#messages.map((other, at) => (at === index ? this.snapshot(message) : other));
  };

  snapshot = <T>(thing: T): T => structuredClone(thing);

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** A chat of the AI SDK, as `useChat` creates it, without React. */
export class TestChat extends AbstractChat<UIMessage> {
  readonly #plain: PlainState;

  constructor(id: string, transport: ChatTransport<UIMessage>, messages: UIMessage[] = []) {
    const state = new PlainState(messages);
    super({ id, transport, state });
    this.#plain = state;
  }

  /** Resolves once the messages satisfy a condition. */
  async until(holds: (messages: readonly UIMessage[]) => boolean): Promise<void> {
    while (!holds(this.messages)) {
      await new Promise<void>((resolve) => {
        const stop = this.#plain.listen(() => {
          stop();
          resolve();
        });
      });
    }
  }

  /** Resolves once the text of all messages contains these words. */
  async shows(words: string): Promise<void> {
    await this.until((messages) => textOf(messages).includes(words));
  }
}

/** All text of messages. */
export function textOf(messages: readonly UIMessage[]): string {
  return messages
    .flatMap(({ parts }) => parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}
