import type { JsonObject } from '../../src/core/model/json.js';
import type { ToolCall } from '../../src/core/model/message.js';
import { RigError, type Rig, type RigPart, type RigRequest } from '../../src/core/ports/rig.js';
import { NO_USAGE, type Usage } from '../../src/core/model/turn.js';
import { Gate } from './gate.js';

/** One question that a rig was asked, answered by the test, part by part. */
export class Asked {
  readonly #parts: (RigPart | Error)[] = [];
  #wake: (() => void) | null = null;
  /** Resolves when its answer is over, however that comes. */
  readonly left: Promise<void>;
  #leave: () => void = () => undefined;

  constructor(
    readonly request: RigRequest,
    readonly signal: AbortSignal,
    private readonly heedsSignal: boolean,
  ) {
    this.left = new Promise((resolve) => (this.#leave = resolve));
    if (heedsSignal) signal.addEventListener('abort', () => this.#wake?.(), { once: true });
  }

  text(...texts: string[]): this {
    for (const text of texts) this.#add({ type: 'text', text });
    return this;
  }

  call(callId: string, name: string, args: JsonObject = {}, more: Pick<ToolCall, 'problem'> = {}): this {
    return this.#add({ type: 'tool_call', call: { callId, name, args, ...more } });
  }

  end(usage: Usage = NO_USAGE): this {
    return this.#add({ type: 'end', usage });
  }

  fail(error: Error): this {
    return this.#add(error);
  }

  async answer(take: (part: RigPart) => void): Promise<void> {
    try {
      for (;;) {
        if (this.heedsSignal) this.signal.throwIfAborted();
        const part = this.#parts.shift();
        if (part instanceof Error) throw part;
        if (part === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else {
          take(part);
          if (part.type === 'end') return;
        }
      }
    } finally {
      this.#leave();
    }
  }

  #add(part: RigPart | Error): this {
    this.#parts.push(part);
    this.#wake?.();
    return this;
  }
}

/** A rig whose every answer the test gives. Titles are answered by failing, unless `titles` says otherwise. */
export class ScriptedRig implements Rig {
  readonly name: string;
  readonly provider = 'test';
  titles: string | null = null;
  heedsSignal = true;
  #titlesHeld: Gate | undefined;
  /** All requests, those for titles included. */
  readonly requests: RigRequest[] = [];
  readonly asked: Asked[] = [];
  readonly #waiting: ((asked: Asked) => void)[] = [];
  #taken = 0;

  constructor(
    readonly id = 'scripted',
    readonly contextTokens = 100_000,
  ) {
    this.name = id;
  }

  /** Titles are answered once the gate is open. */
  holdTitles(): Gate {
    this.#titlesHeld = new Gate();
    return this.#titlesHeld;
  }

  /** The next question, as soon as there is one. */
  async next(): Promise<Asked> {
    const asked = this.asked[this.#taken];
    this.#taken++;
    return asked ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  async respond(...[request, signal, take]: Parameters<Rig['respond']>): Promise<void> {
    this.requests.push(request);
    if (request.purpose === 'title') {
      await this.#titlesHeld?.passed;
      if (this.titles === null) throw new RigError('no titles here', { retryable: false });
      take({ type: 'text', text: this.titles });
      take({ type: 'end', usage: NO_USAGE });
      return;
    }
    const asked = new Asked(request, signal, this.heedsSignal);
    this.asked.push(asked);
    this.#waiting.shift()?.(asked);
    await asked.answer(take);
  }

  attachedTokens(): number {
    return 0;
  }

  check(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}
