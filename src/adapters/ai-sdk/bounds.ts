/**
 * How much of an answer is taken from a provider: several times what a model gives. What does not end would fill the memory, for whoever reads it keeps
 * what he cannot read yet. The text that comes out has bounds of its own, in `core/listening.ts`.
 */

/** Of an event, or of a line where events are read by others. */
export const MAX_EVENT = 4_194_304;

/** Of the arguments of all calls, in characters. */
export const MAX_ARGUMENTS = 1_048_576;

/** Of a refusal, in characters. */
export const MAX_REFUSAL = 1_048_576;

/** Of the whole, in bytes, where events are read by others. */
export const MAX_BYTES = 67_108_864;
