import { randomUUID } from 'node:crypto';
import { ask, Cut, eventsOf, open, type Ask } from '../chaos/wire.js';

const MESSAGES = [
  'Hello there',
  'What time is it in Europe/Berlin?',
  'Calculate 12*(3+4)',
  'count from 1 to 40',
  'remember 42',
  'what number did I ask you to remember?',
] as const;

/**
 * A steady load. Each worker has one session at a time: six turns on both surfaces in turn, polls between them, streams
 * that it opens and leaves; then it deletes the session. So what the service has to remember does not grow.
 */
export class Load {
  turns = 0;
  polls = 0;
  streams = 0;
  /** Answers that must not be, with how often. */
  readonly wrong = new Map<string, number>();
  readonly latencies: number[] = [];
  readonly #workers: Promise<void>[] = [];
  #isStopped = false;

  /** @param pause how long a worker rests after each turn, in milliseconds */
  constructor(
    private readonly base: string,
    workers: number,
    private readonly pause: number,
  ) {
    for (let index = 0; index < workers; index++) this.#workers.push(this.#work());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    for (;;) {
      const id = randomUUID();
      for (const [index, message] of MESSAGES.entries()) {
        if (this.#isStopped) break;
        const leave = await this.#follow(id);
        if (index % 2 === 0) await this.#sendCurrent(id, message);
        else await this.#sendLegacy(id, message);
        this.turns++;
        for (let polls = 0; polls < 5; polls++) await this.#poll(id);
        leave();
        if (this.pause > 0) await new Promise((resolve) => setTimeout(resolve, this.pause));
      }
      await this.#expect({ method: 'DELETE', url: `${this.base}/api/sessions/${id}` });
      if (this.#isStopped) return;
    }
  }

  async #sendCurrent(id: string, message: string): Promise<void> {
    const url = `${this.base}/api/chat?message=${encodeURIComponent(message)}`;
    const body = await this.#expect({
      method: 'POST',
      url,
      headers: { 'X-Session-Id': id, Prefer: 'wait=20' },
    });
    if (!body.includes('"is_processing":false')) this.#note('a turn of the current surface that did not end');
  }

  async #sendLegacy(id: string, text: string): Promise<void> {
    const headers = { 'X-Session-Id': id, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ text });
    const answer = await open({ method: 'POST', url: `${this.base}/api/thread/chat`, headers, body });
    let last = '';
    for await (const { data } of eventsOf(answer.message)) last = JSON.stringify(data);
    if (last !== '{"type":"complete"}') this.#note(`a legacy stream that ended with ${last.slice(0, 100)}`);
  }

  async #poll(id: string): Promise<void> {
    const begun = performance.now();
    await this.#expect({ method: 'GET', url: `${this.base}/api/state`, headers: { 'X-Session-Id': id } });
    this.latencies.push(performance.now() - begun);
    this.polls++;
  }

  /** Opens a stream of the session. The result leaves it. */
  async #follow(id: string): Promise<() => void> {
    const headers = { 'X-Session-Id': id, Accept: 'text/event-stream' };
    const url = `${this.base}/api/updates?since=0&include=turns`;
    const answer = await open({ method: 'GET', url, headers });
    this.streams++;
    const read = async (): Promise<void> => {
      for await (const event of eventsOf(answer.message)) if (event.data === null) return;
    };
    // Leaving cuts it off.
    read().catch((error: unknown) => {
      if (!(error instanceof Cut)) throw error;
    });
    return () => {
      answer.close();
    };
  }

  async #expect(request: Ask): Promise<string> {
    const { status, body } = await ask(request);
    if (status !== 200) this.#note(`${request.method} ${new URL(request.url).pathname} -> ${String(status)}`);
    return body;
  }

  #note(what: string): void {
    this.wrong.set(what, (this.wrong.get(what) ?? 0) + 1);
  }
}
