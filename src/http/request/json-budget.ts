/** Maximum nesting depth of arrays and objects. */
const MAX_DEPTH = 100;
/** Maximum number of values and names: objects with many names are slow to parse. */
const MAX_VALUES = 10_000;

/** Thrown when JSON exceeds the limits of depth or size. The text was well-formed up to that point. */
export class JsonBudgetError extends Error {
  override readonly name = 'JsonBudgetError';
}

/**
 * Parses JSON (RFC 8259) from a client. Checks its depth and its number of values first, in one pass over the text, so
 * that no request blocks the event loop.
 * @throws JsonBudgetError when a limit is exceeded
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string): unknown {
  requireWithinBudget(text);
  const value: unknown = JSON.parse(text);
  return value;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function requireWithinBudget(text: string): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth++;
      values++;
    } else continue;
    if (depth > MAX_DEPTH)
      throw new JsonBudgetError(`is nested too deeply: at most ${String(MAX_DEPTH)} levels are read`);
    if (values > MAX_VALUES)
      throw new JsonBudgetError(`has too many values: at most ${String(MAX_VALUES)} are read`);
  }
}

/** Returns the index of the closing quotation mark, or the length of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}
