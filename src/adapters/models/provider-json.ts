import { JsonMeter } from '../platform/net/json-meter.js';
import { JSON_BOUNDS } from './http/limits.js';

/** Length in characters up to which any text takes at most a few milliseconds to parse. */
const UNMEASURED_LENGTH = 65_536;

/** A text was not parsed, because it exceeds `JSON_BOUNDS`. */
export class ComplexJsonError extends RangeError {
  override readonly name = 'ComplexJsonError';
}

/**
 * Parses JSON of a provider.
 * @throws ComplexJsonError when the text exceeds `JSON_BOUNDS`
 * @throws SyntaxError, which quotes the text, when it is not JSON
 */
export function parseProviderJson(text: string): unknown {
  if (text.length > UNMEASURED_LENGTH && !new JsonMeter(JSON_BOUNDS).push(Buffer.from(text)))
    throw new ComplexJsonError('The JSON has too many values or levels');
  return JSON.parse(text);
}
