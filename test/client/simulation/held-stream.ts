/** A stream of events, whose frames wait until the network delivers them. */
export class HeldStream {
  readonly body: ReadableStream<Uint8Array>;
  /** The frames that the service has sent and the client has not received. */
  readonly frames: string[] = [];
  /** False once it was closed, cut or cancelled. */
  isOpen = true;
  /** True once the service has sent the last frame. */
  isEnding = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /** @param name for the trace */
  constructor(readonly name: string) {
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.isOpen = false;
      },
    });
  }

  push(...frames: readonly string[]): void {
    if (this.isOpen) this.frames.push(...frames);
  }

  /**
   * Delivers the next frames, at most so many, in one chunk.
   * @returns them
   */
  deliver(count: number): string[] {
    const frames = this.frames.splice(0, count);
    this.#controller?.enqueue(new TextEncoder().encode(frames.join('')));
    return frames;
  }

  close(): void {
    if (this.isOpen) this.#controller?.close();
    this.isOpen = false;
  }

  /** The client's next read fails with this reason. */
  cut(reason: unknown): void {
    if (this.isOpen) this.#controller?.error(reason);
    this.isOpen = false;
  }
}

/** Returns an event as it is sent. */
export function frameOf(data: object, id?: number): string {
  return `${id === undefined ? '' : `id: ${String(id)}\n`}data: ${JSON.stringify(data)}\n\n`;
}
