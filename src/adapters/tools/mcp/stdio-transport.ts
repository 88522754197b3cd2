import { setImmediate } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { startChild, stopChild, whenEnded, type Child } from './child.js';
import { LineReader } from './lines.js';
import { JsonMeter } from '../../platform/net/json-meter.js';
import { idOfCutAnswer, MAX_MESSAGE_BYTES, MESSAGE_BOUNDS, oversizedAnswer } from './oversize.js';

/** Characters at each end of an unparsed message in which to look for the request id. */
const END_LENGTH = 512;
/** How many bytes may wait until the child reads them. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How much of the output is read at once, in bytes. */
const PIECE_BYTES = 1_024;
/** After this time of reading, in milliseconds, other work runs. */
const SLICE_MS = 10;

export interface StdioLaunch {
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  readonly closeMs: number;
  /** Parses a message. @throws Error when the line is not a message */
  parse(line: string): JSONRPCMessage;
  /** Receives the child's stderr. Must not throw. */
  onStderr(chunk: Buffer): void;
}

/**
 * Exchanges messages with a child process, one per line. Unlike the SDK's transport, it bounds the memory of a message,
 * loses no progress notification, starts the child in its own process group, and resolves `close` after the child has
 * exited.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  #child: Child | null = null;
  #starting: Promise<void> | null = null;
  #ended: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;
  #read: Promise<void> = Promise.resolve();
  #sliceStart = 0;
  #delivered: Promise<void> = Promise.resolve();

  constructor(private readonly launch: StdioLaunch) {}

  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const child = await startChild(this.launch);
    this.#child = child;
    const meter = new JsonMeter(MESSAGE_BOUNDS);
    const lines = new LineReader(
      MAX_MESSAGE_BYTES,
      (line) => {
        meter.reset();
        if (meter.push(Buffer.from(line))) this.#receive(line);
        else this.#answerInstead(line.slice(0, END_LENGTH), line.slice(-END_LENGTH));
      },
      (head, tail) => {
        this.#answerInstead(head, tail);
      },
    );
    const report = (error: Error): void => this.onerror?.(error);
    child.on('error', report);
    child.stdin.on('error', report);
    child.stdout.on('error', report);
    child.stderr.on('error', report);
    child.stdout.on('data', (chunk: Buffer) => {
      child.stdout.pause();
      this.#read = this.#read
        .then(() => this.#push(chunk, lines))
        .then(() => {
          child.stdout.resume();
        });
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.launch.onStderr(chunk);
    });
    this.#ended = whenEnded(child)
      .then(() => this.#read)
      .then(() => this.#delivered)
      .then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin?.writable !== true) throw new Error('The child is not running.');
    if (stdin.writableLength > MAX_WAITING_BYTES) {
      const error = new Error('The server does not read its input.');
      this.onerror?.(error);
      await this.close();
      throw error;
    }
    // Resolves when the operating system has accepted the data; rejects when the child exits first.
    await new Promise<void>((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop();
    return this.#closing;
  }

  async #stop(): Promise<void> {
    await Promise.allSettled([this.#starting]);
    if (this.#child !== null) await stopChild(this.#child, this.#ended, this.launch.closeMs);
  }

  /** Reads a chunk of the output. Lets other work run in between: a child may print without end. */
  async #push(chunk: Buffer, lines: LineReader): Promise<void> {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      if (performance.now() - this.#sliceStart > SLICE_MS) {
        await setImmediate();
        this.#sliceStart = performance.now();
      }
      lines.push(chunk.subarray(start, start + PIECE_BYTES));
    }
  }

  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.launch.parse(line);
    } catch {
      // The parser's error quotes the line, which may be anything that the server prints.
      this.onerror?.(new Error('The server wrote a line that is not a message.'));
      return;
    }
    // Deliver messages one per microtask: the client handles notifications asynchronously and would drop the progress
    // of a call whose result follows immediately.
    this.#delivered = this.#delivered
      .then(() => this.onmessage?.(message))
      .catch((error: unknown) => {
        this.onerror?.(new Error('A message could not be handled.', { cause: error }));
      });
  }

  #answerInstead(head: string, tail: string): void {
    const id = idOfCutAnswer(head, tail);
    this.onerror?.(new Error('The server sent a message that is too large.'));
    if (id !== null) this.#receive(JSON.stringify(oversizedAnswer(id)));
  }
}
