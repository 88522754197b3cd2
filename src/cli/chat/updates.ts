import type { JsonObject } from '../../core/json.js';
import { shortened, type Display } from './display.js';
import { readEvents, textField, type StreamEvent } from './events.js';
import { bodyOf, request, UnreachableError, type WireSettings } from './wire.js';

const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;
/** How long a message waits for the stream. */
const ATTACH_MS = 60_000;

/** The session's updates (§6), kept open: when the stream breaks off it is opened again with the last cursor. */
export class Updates {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #cursor: string | undefined;
  #isOpen = false;
  #missed = false;
  #fatal: Error | undefined;
  /** Grows whenever there may be something new to read in the state. */
  #news = 0;
  #read = 0;
  readonly #waiting = new Set<() => void>();
  readonly #calls = new Set<string>();
  #turn = '';

  constructor(
    private readonly settings: WireSettings,
    private readonly display: Display,
  ) {
    this.#running = this.#follow();
  }

  /** Resolves when the stream is open. @throws what the service refused it with */
  async attached(): Promise<void> {
    const until = Date.now() + ATTACH_MS;
    while (!this.#isOpen) {
      if (this.#fatal !== undefined) throw this.#fatal;
      if (Date.now() >= until) throw new UnreachableError('The stream of updates cannot be opened');
      await this.#wait(until - Date.now());
    }
  }

  /** From here on counts what is missed. */
  beginAnswer(): void {
    this.#missed = !this.#isOpen;
    this.#read = this.#news;
  }

  /** True when the stream was open anew since the answer began: not all text was told. */
  missedSome(): boolean {
    return this.#missed;
  }

  /** Resolves when a turn has ended since the last call, may have, or the time is up. */
  async turnEnded(milliseconds: number): Promise<void> {
    if (this.#read === this.#news) await this.#wait(milliseconds);
    this.#read = this.#news;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    let pause = FIRST_PAUSE_MS;
    let warned = false;
    while (!isAborted(signal)) {
      try {
        await this.#once(signal, () => {
          pause = FIRST_PAUSE_MS;
          warned = false;
        });
      } catch (error) {
        if (isAborted(signal)) return;
        if (!(error instanceof UnreachableError)) {
          this.#fatal = error instanceof Error ? error : new Error(String(error));
          this.#wake();
          return;
        }
        if (!warned) this.display.aside(`(${error.message}; trying again)`);
        warned = true;
      }
      this.#isOpen = false;
      this.#missed = true;
      await paused(pause, signal);
      pause = Math.min(pause * 2, LAST_PAUSE_MS);
    }
  }

  async #once(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const response = await request(this.settings, {
      method: 'GET',
      path: '/api/updates',
      query: { include: 'turns' },
      headers: {
        Accept: 'text/event-stream',
        ...(this.#cursor === undefined ? {} : { 'Last-Event-ID': this.#cursor }),
      },
      signal,
    });
    onOpen();
    this.#isOpen = true;
    // A turn may have ended meanwhile.
    this.#tellNews();
    try {
      for await (const event of readEvents(bodyOf(response))) this.#show(event);
    } catch (error) {
      if (!isAborted(signal)) throw new UnreachableError('The stream of updates broke off', { cause: error });
    }
  }

  #show({ id, data }: StreamEvent): void {
    if (id !== undefined) this.#cursor = id;
    switch (textField(data, 'type')) {
      case 'turn_started': {
        const turn = textField(data, 'turn_id');
        if (turn === this.#turn) this.display.again();
        else {
          this.display.end();
          this.display.begin();
        }
        this.#turn = turn;
        return;
      }
      case 'text_delta':
        this.display.text(textField(data, 'content'));
        return;
      case 'turn_ended':
        this.#tellNews();
        return;
      case 'tool_update':
      case 'tool_complete':
        this.#showTool(data);
        return;
      case 'system_notice':
        this.display.aside(`· ${textField(data, 'message')}`);
        return;
      case 'gap':
        this.#missed = true;
        this.#tellNews();
    }
  }

  #showTool(data: JsonObject): void {
    const name = textField(data, 'tool_name');
    if (data.type === 'tool_complete') {
      const failed = data.status === 'failed' ? ' failed:' : '';
      this.display.aside(`← ${name}${failed} ${shortened(textField(data, 'result'))}`);
      return;
    }
    const call = textField(data, 'call_id');
    const message = textField(data, 'message');
    if (message !== '') this.display.aside(`… ${name} ${shortened(message)}`);
    else if (!this.#calls.has(call)) this.display.aside(`→ ${name}`);
    this.#calls.add(call);
  }

  #tellNews(): void {
    this.#news++;
    this.#wake();
  }

  #wake(): void {
    for (const resume of this.#waiting) resume();
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, milliseconds);
      this.#waiting.add(resume);
    });
  }
}

/** A signal's state can change across an `await`, which narrowing does not know. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function paused(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
