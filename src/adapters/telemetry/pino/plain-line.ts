/** How a field is logged. */
export type Verdict = 'shown' | 'redacted' | 'shortened';

/** Formats a log line from its first field on; undefined when a field needs masking or escaping by pino. */
export type PlainLines = (fields: Readonly<Record<string, unknown>>, message: string) => string | undefined;

/** Limit of the cache of field names. The code uses far fewer. */
const MAX_NAMES = 1_000;

/** Text that needs no escaping in JSON. */
const SIMPLE = /^[ !#-[\]-~]*$/;

interface Field {
  readonly verdict: Verdict;
  /** The leading comma, the quoted name and the colon. */
  readonly start: string;
}

/**
 * Creates a fast path for log lines whose fields are all simple, such as the line of each request: masking and pino are
 * too slow for every request (docs/decisions/027-ablation.md). The output is identical to pino's, which formats all
 * other lines.
 * @param judge decides how a field is logged by its name; booleans are always shown
 */
export function createPlainLines(judge: (name: string) => Verdict): PlainLines {
  const known = new Map<string, Field>();

  function learn(name: string): Field {
    const field = { verdict: judge(name), start: `,${JSON.stringify(name)}:` };
    if (known.size < MAX_NAMES) known.set(name, field);
    return field;
  }

  return (fields, message) => {
    let line = '';
    // All text is tested at once: a test per field is slower.
    let texts = message;
    // Not `Object.entries`, which allocates an array per field.
    for (const name in fields) {
      const value = fields[name];
      if (value === undefined) continue;
      const { start, verdict } = known.get(name) ?? learn(name);
      if (typeof value === 'string' && verdict !== 'redacted') {
        const text = verdict === 'shortened' ? value.slice(0, 8) : value;
        texts += text;
        line += `${start}"${text}"`;
      } else {
        const text = plainText(value, verdict);
        if (text === undefined) return undefined;
        line += start + text;
      }
    }
    return SIMPLE.test(texts) ? `${line},"msg":"${message}"}\n` : undefined;
  };
}

function plainText(value: unknown, verdict: Verdict): string | undefined {
  if (typeof value === 'boolean') return String(value);
  const isShown = typeof value === 'number' && Number.isFinite(value) && verdict === 'shown';
  return isShown ? String(value) : undefined;
}

let second = Number.NaN;
let secondText = '';

/**
 * Formats a time as ISO 8601. Caches the text of the current second.
 * @param at milliseconds since the epoch
 */
export function isoTime(at: number): string {
  const milliseconds = at % 1000;
  if (at - milliseconds !== second) {
    second = at - milliseconds;
    secondText = new Date(at).toISOString().slice(0, -4);
  }
  return `${secondText}${String(milliseconds).padStart(3, '0')}Z`;
}
