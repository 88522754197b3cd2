/** How to show a field, by its name. */
export type Verdict = 'shown' | 'redacted' | 'shortened';

/** Writes a line from its fields on; undefined when a field needs the general way. */
export type PlainLines = (fields: Readonly<Record<string, unknown>>, message: string) => string | undefined;

/** Field names are few, and all are in the code. */
const MAX_NAMES = 1_000;

/** Text that JSON writes as it is. */
const SIMPLE = /^[ !#-[\]-~]*$/;

interface Field {
  readonly verdict: Verdict;
  /** From the comma to the colon. */
  readonly start: string;
}

/**
 * Writes log lines whose fields are all plain, such as the line of each request: masking and pino's general way take
 * several times as long (docs/decisions/027-ablation.md). The bytes are those of the general way, which takes all other
 * lines.
 * @param judge how to show a field of that name that is no flag
 */
export function createPlainLines(judge: (name: string) => Verdict): PlainLines {
  const known = new Map<string, Field>();

  function learn(name: string): Field {
    const field = { verdict: judge(name), start: `,${JSON.stringify(name)}:` };
    if (known.size < MAX_NAMES) known.set(name, field);
    return field;
  }

  return (fields, message) => {
    if (!SIMPLE.test(message)) return undefined;
    let line = '';
    // Not `Object.entries`, which makes an array for each field.
    for (const name in fields) {
      const value = fields[name];
      if (value === undefined) continue;
      const { start, verdict } = known.get(name) ?? learn(name);
      const text = plainText(value, verdict);
      if (text === undefined) return undefined;
      line += start + text;
    }
    return `${line},"msg":"${message}"}\n`;
  };
}

function plainText(value: unknown, verdict: Verdict): string | undefined {
  if (typeof value === 'boolean') return String(value);
  if (verdict === 'redacted') return undefined;
  if (typeof value === 'string') {
    const text = verdict === 'shortened' ? value.slice(0, 8) : value;
    return SIMPLE.test(text) ? `"${text}"` : undefined;
  }
  const isShown = typeof value === 'number' && Number.isFinite(value) && verdict === 'shown';
  return isShown ? String(value) : undefined;
}

let second = Number.NaN;
let secondText = '';

/** A time in milliseconds since the epoch as ISO 8601. Formats the date once a second. */
export function isoTime(at: number): string {
  const milliseconds = at % 1000;
  if (at - milliseconds !== second) {
    second = at - milliseconds;
    secondText = new Date(at).toISOString().slice(0, -4);
  }
  return `${secondText}${String(milliseconds).padStart(3, '0')}Z`;
}
