import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Random } from '../chaos/random.js';
import { ChatEvent, RecordPage } from '../chaos/shapes.js';
import { Cut, eventsOf, type Ask, type OpenAnswer } from '../chaos/wire.js';
import { replyTo } from './model.js';
import type { Figures, Rotation } from './rotation.js';

const POLL_MS = 50;
/** The longest turn, with a take-over. */
const TURN_MS = 60_000;

const State = z.looseObject({ is_processing: z.boolean() });

/** The surface that a client uses. */
export type Surface = 'current' | 'legacy';

/** A client with one session, which sends one message after another and remembers what was acknowledged. */
export class Client {
  readonly id: string;
  readonly #acknowledged: string[] = [];
  #sent = 0;

  constructor(
    private readonly name: string,
    private readonly parts: {
      readonly rotation: Rotation;
      readonly figures: Figures;
      readonly random: Random;
    },
  ) {
    this.id = parts.random.uuid();
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Sends messages until the signal aborts, and waits for the reply to each. */
  async chat(surface: Surface, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const text = this.#nextText('short');
      const isSent = surface === 'legacy' ? await this.#sendAndRead(text) : await this.#send(text);
      if (!isSent) return;
      if (surface === 'current') await this.#untilIdle();
      if (this.#sent % 3 === 0) await this.#rename(text);
      this.parts.figures.turnEnded();
    }
  }

  /** Sends a message whose turn outlasts the drain, to this node. Undefined: the node did not acknowledge it. */
  async sendLong(url: string): Promise<string | undefined> {
    const text = this.#nextText('long');
    return (await this.#send(text, url)) ? text : undefined;
  }

  /** Waits for the end of the turn, and compares what is stored with what was acknowledged. */
  async verify(): Promise<void> {
    await this.#untilIdle();
    const stored: { readonly role: string; readonly content: string }[] = [];
    for (let before = ''; ;) {
      const path = `/api/sessions/${this.id}/messages?limit=500${before}`;
      const answer = await this.#json((url) => ({ method: 'GET', url: url + path }));
      if (answer === undefined) return;
      const page = RecordPage.parse(answer);
      stored.unshift(...page.messages);
      if (!page.has_more) break;
      before = `&before=${page.messages[0]?.id ?? ''}`;
    }
    const expected = this.#acknowledged.flatMap((text) => [`user: ${text}`, `assistant: ${replyTo(text)}`]);
    const found = stored.map(({ role, content }) => `${role}: ${content}`);
    const at = Array.from({ length: Math.max(expected.length, found.length) }, (_, n) => n).find(
      (n) => expected[n] !== found[n],
    );
    if (at === undefined) return;
    const shown = [expected[at], found[at]].map((line) => line?.slice(0, 80) ?? 'nothing');
    this.parts.figures.fault(
      `${this.name} (${this.id}): message ${String(at)} is ${shown[1] ?? ''}, not ${shown[0] ?? ''}`,
    );
  }

  #nextText(kind: 'short' | 'long'): string {
    return `${kind} ${this.name} ${String(++this.#sent)}`;
  }

  #headers(): Record<string, string> {
    return { 'X-Session-Id': this.id, 'Content-Type': 'application/json' };
  }

  /** Sends a message on the current surface. */
  async #send(text: string, node?: string): Promise<boolean> {
    const headers = { ...this.#headers(), 'Idempotency-Key': text };
    const path = `/api/chat?message=${encodeURIComponent(text)}`;
    const answer = await this.parts.rotation.send((url) => ({
      ...{ method: 'POST', url: (node ?? url) + path, headers },
    }));
    if (answer === undefined) return false;
    this.#acknowledged.push(text);
    await bodyOf(answer);
    return true;
  }

  /** Sends a message on the legacy surface, and reads the stream of its turn, which must show the whole reply. */
  async #sendAndRead(text: string): Promise<boolean> {
    const headers = { ...this.#headers(), 'Idempotency-Key': text };
    const body = JSON.stringify({ text });
    const answer = await this.parts.rotation.send((url) => ({
      ...{ method: 'POST', url: `${url}/api/thread/chat`, headers, body },
    }));
    if (answer === undefined) return false;
    this.#acknowledged.push(text);
    let shown = '';
    try {
      for await (const { data } of eventsOf(answer.message)) {
        const event = ChatEvent.parse(data);
        if (event.type === 'text') shown += event.content;
        else if (event.type !== 'complete') this.parts.figures.fault(`${text}: ${JSON.stringify(event)}`);
      }
    } catch (error) {
      if (!(error instanceof Cut)) throw error;
      this.parts.figures.fault(`${text}: ${error.message}`);
    }
    if (shown !== replyTo(text)) this.parts.figures.fault(`${text}: showed ${shown.slice(0, 80)}`);
    return true;
  }

  async #untilIdle(): Promise<void> {
    const until = Date.now() + TURN_MS;
    const headers = this.#headers();
    for (;;) {
      const state = await this.#json((url) => ({ method: 'GET', url: `${url}/api/state`, headers }));
      if (state === undefined || !State.parse(state).is_processing) return;
      if (Date.now() > until) {
        this.parts.figures.fault(`${this.name} (${this.id}): still processing`);
        return;
      }
      await sleep(POLL_MS);
    }
  }

  async #rename(title: string): Promise<void> {
    const body = JSON.stringify({ title });
    const headers = this.#headers();
    await this.#json((url) => ({ method: 'PATCH', url: `${url}/api/sessions/${this.id}`, headers, body }));
  }

  /** Undefined: the request failed, which is reported. */
  async #json(ask: (url: string) => Ask): Promise<unknown> {
    const answer = await this.parts.rotation.send(ask);
    return answer === undefined ? undefined : JSON.parse(await bodyOf(answer));
  }
}

async function bodyOf({ message }: OpenAnswer): Promise<string> {
  const chunks: AsyncIterable<string> = message.setEncoding('utf8');
  let body = '';
  for await (const chunk of chunks) body += chunk;
  return body;
}
