import type { JsonBounds } from '../../platform/net/json-meter.js';

/**
 * How much of a response the model adapters read: several times what a model returns, so that an endless response
 * cannot fill the memory.
 */

/** One event, or one line of a response whose events a provider package parses, in characters. */
export const MAX_EVENT = 4_194_304;

/** Limits of JSON that is parsed: larger documents would block the process. */
export const JSON_BOUNDS: JsonBounds = { values: 100_000, depth: 1_000 };

/** The arguments of all tool calls of a response, in characters. */
export const MAX_ARGUMENTS = 1_048_576;

/** The body of an error response, in characters. */
export const MAX_REFUSAL = 1_048_576;

/** Comments and unknown lines of a response: a provider that is busy may send a comment every few seconds. */
export const MAX_STRAY_LINES = 50_000;

/** The whole body of a response, in bytes. */
export const MAX_BYTES = 67_108_864;

/** How long a proxy may keep a complete response open, in milliseconds. */
export const LINGER_MS = 2_000;
