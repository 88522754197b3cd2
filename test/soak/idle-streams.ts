import { randomUUID } from 'node:crypto';
import { open, type OpenAnswer } from '../chaos/wire.js';

interface IdleStream {
  readonly id: string;
  readonly answer: OpenAnswer;
  text: string;
  isOver: boolean;
}

/** Many streams of updates, each of its own session, on which nothing happens. */
export class IdleStreams {
  readonly #streams: IdleStream[] = [];

  constructor(private readonly base: string) {}

  /** Opens so many, fifty at a time. @throws when one is refused */
  async open(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 50) {
      await Promise.all(Array.from({ length: Math.min(left, 50) }, () => this.#openOne()));
    }
  }

  async #openOne(): Promise<void> {
    const id = randomUUID();
    const headers = { Accept: 'text/event-stream', 'X-Session-Id': id };
    const answer = await open({ method: 'GET', url: `${this.base}/api/updates`, headers });
    if (answer.status !== 200) throw new Error(`a stream was answered by ${String(answer.status)}`);
    const stream: IdleStream = { id, answer, text: '', isOver: false };
    answer.message.setEncoding('utf8').on('data', (text: string) => (stream.text += text));
    answer.message.once('close', () => (stream.isOver = true));
    this.#streams.push(stream);
  }

  /** How many the server has ended, or has sent no keep-alive to. */
  get ended(): number {
    return this.#streams.filter(({ isOver }) => isOver).length;
  }

  get silent(): number {
    return this.#streams.filter(({ text }) => text === '').length;
  }

  /** Gives every session a title, and counts the streams on which it does not arrive exactly once. */
  async missed(): Promise<number> {
    const { base } = this;
    for (let at = 0; at < this.#streams.length; at += 50) {
      const some = this.#streams.slice(at, at + 50);
      await Promise.all(
        some.map(async ({ id }) => {
          const body = JSON.stringify({ title: `Title of ${id}` });
          const headers = { 'Content-Type': 'application/json', 'X-Session-Id': id };
          await open({ method: 'POST', url: `${base}/api/sessions`, headers }).then(({ message }) =>
            message.resume(),
          );
          const answer = await open({ method: 'PATCH', url: `${base}/api/sessions/${id}`, headers, body });
          answer.message.resume();
        }),
      );
    }
    const isRight = ({ id, text }: IdleStream): boolean =>
      text.split(`"new_title":"Title of ${id}"`).length === 2;
    const until = Date.now() + 10_000;
    while (!this.#streams.every(isRight) && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 100));
    return this.#streams.filter((stream) => !isRight(stream)).length;
  }

  close(): void {
    for (const { answer } of this.#streams.splice(0)) answer.close();
  }
}
