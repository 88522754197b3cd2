import type { Outcome } from './batch.js';
import type { Failure } from '../failure.js';
import type { Call, PostedCall } from '../steps.js';

/**
 * Messages are posted as JSON: a string crosses to another thread with much less work than an object does. Steps and
 * their results are plain data without arrays that hold `undefined`, so that JSON keeps them as they are.
 */
interface Port {
  postMessage(message: string): void;
}

/** A message from the main thread to the writer thread. */
export type Request<C = Call> =
  { readonly type: 'run'; readonly calls: readonly C[] } | { readonly type: 'close' };

/** A message from the writer thread to the main thread. */
export type Reply =
  /** The database is open. `identity` is that of its file; `missing` describes lost data. */
  | {
      readonly type: 'ready';
      readonly identity: string | undefined;
      readonly missing: readonly string[];
    }
  | { readonly type: 'refused'; readonly failure: Failure }
  /**
   * The log was removed or replaced: the main thread must close all connections of the process, then restart the writer
   * thread.
   */
  | { readonly type: 'log_lost'; readonly failure: Failure }
  /** The outcomes of the oldest pending calls, in order. */
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] };

/** Posts a message to the writer thread. */
export function postRequest(worker: Port, request: Request<PostedCall>): void {
  worker.postMessage(JSON.stringify(request));
}

/** Posts a message to the main thread. */
export function postReply(port: Port, reply: Reply): void {
  port.postMessage(JSON.stringify(reply));
}

/** @throws Error when a message was not posted by `postRequest` */
export function parseRequest(message: unknown): Request {
  const request = parse(message);
  if (isRequest(request)) return request;
  throw new Error('the writer thread received an unknown message');
}

/** @throws Error when a message was not posted by `postReply` */
export function parseReply(message: unknown): Reply {
  const reply = parse(message);
  if (isReply(reply)) return reply;
  throw new Error('the writer thread posted an unknown message');
}

function parse(message: unknown): unknown {
  return typeof message === 'string' ? JSON.parse(message) : undefined;
}

function isRequest(value: unknown): value is Request {
  return hasType(value) && (value.type === 'run' || value.type === 'close');
}

function isReply(value: unknown): value is Reply {
  return hasType(value) && ['ready', 'refused', 'log_lost', 'outcomes'].includes(value.type);
}

function hasType(value: unknown): value is { readonly type: string } {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
