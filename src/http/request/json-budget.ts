/** How deep arrays and objects of a request may be nested. */
const MAX_DEPTH = 100;
/** How many values and names a request's JSON may have: objects with many names are slow to parse. */
const MAX_VALUES = 10_000;

/** JSON of a request is well-formed as far as it was read, but exceeds the budget of the parser. */
export class JsonBudgetError extends Error {
  override readonly name = 'JsonBudgetError';
}

/**
 * Parses JSON (RFC 8259) that a client sent. Measures its depth and its size first, in one pass over the text, so that
 * no request holds the event loop.
 * @throws JsonBudgetError when it is too deep or has too many values, SyntaxError when it is not JSON
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

/** The place of the quotation mark that ends a string; the end of the text when none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}
