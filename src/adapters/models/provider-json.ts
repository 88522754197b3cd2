import { JsonMeter } from '../platform/net/json-meter.js';
import { JSON_BOUNDS } from './http/limits.js';

/** Shorter texts take a few milliseconds to parse, whatever they hold. In characters. */
const SHORT = 65_536;

/** A text exceeds `JSON_BOUNDS`, and was not parsed. */
export class ComplexJsonError extends RangeError {
  override readonly name = 'ComplexJsonError';
}

/**
 * Parses what a provider sent.
 * @throws SyntaxError, which quotes the text; ComplexJsonError
 */
export function parseProviderJson(text: string): unknown {
  if (text.length > SHORT && !new JsonMeter(JSON_BOUNDS).push(Buffer.from(text)))
    throw new ComplexJsonError('The JSON has too many values or levels');
  return JSON.parse(text);
}
