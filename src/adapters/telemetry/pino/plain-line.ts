/**
 * Log lines whose fields are all plain, made at once: the masking of each field and pino's general way take 4 µs a
 * line, and each request has one. The bytes are those of the general way, which takes all other lines.
 */

/** What becomes of a field by its name. */
export type Verdict = 'shown' | 'redacted' | 'shortened';

/** Makes the end of a line, from its fields on; undefined when one of them needs the general way. */
export type PlainLines = (fields: Readonly<Record<string, unknown>>, message: string) => string | undefined;

/** Names of fields are few, and all are in the code. */
const MAX_NAMES = 1_000;

/** Text that JSON writes as it is. */
const SIMPLE = /^[ !#-[\]-~]*$/;

/** What is known of a field by its name. */
interface Field {
  readonly name: string;
  readonly verdict: Verdict;
  /** From the comma to the colon. */
  readonly start: string;
  /** The value that was written last, and what was: most fields of most lines say the same as in the line before. */
  last: unknown;
  lastText: string;
  /** It was said again, and `lastText` was made one piece. */
  isRepeated: boolean;
}

/** @param judge what becomes of a field of that name that is no flag */
export function createPlainLines(judge: (name: string) => Verdict): PlainLines {
  const known = new Map<string, Field>();
  /** The fields of the line before, in its order, and how it ended: most lines are like it. */
  const before: Field[] = [];
  let lastMessage: string | undefined;
  let end = '';

  function learn(name: string): Field {
    const start = `,${JSON.stringify(name)}:`;
    const field = { name, verdict: judge(name), start, last: undefined, lastText: '', isRepeated: false };
    if (known.size < MAX_NAMES) known.set(name, field);
    return field;
  }

  function find(name: string, place: number): Field {
    const same = before[place];
    return same?.name === name ? same : (before[place] = known.get(name) ?? learn(name));
  }

  return (fields, message) => {
    if (message !== lastMessage) {
      if (!SIMPLE.test(message)) return undefined;
      lastMessage = message;
      end = `,"msg":"${message}"}\n`;
    }
    let line = '';
    let place = 0;
    // Not `Object.entries`, which makes an array for each.
    for (const name in fields) {
      const value = fields[name];
      if (value === undefined) continue;
      const field = find(name, place++);
      if (value !== field.last) {
        const text = plainText(value, field.verdict);
        if (text === undefined) return undefined;
        field.last = value;
        field.lastText = field.start + text;
        field.isRepeated = false;
      } else if (!field.isRepeated) {
        field.lastText = Buffer.from(field.lastText, 'latin1').toString('latin1');
        field.isRepeated = true;
      }
      line += field.lastText;
    }
    return line + end;
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

/** The end of each time of a second. */
const MILLISECONDS = Array.from({ length: 1000 }, (_, at) => `${String(at).padStart(3, '0')}Z`);

let second = -1;
let secondText = '';

/** A time in milliseconds since the epoch as ISO 8601: a date is turned into text once a second. */
export function isoTime(at: number): string {
  const milliseconds = at % 1000;
  if (at - milliseconds !== second) {
    second = at - milliseconds;
    secondText = new Date(at).toISOString().slice(0, -4);
  }
  return secondText + (MILLISECONDS[milliseconds] ?? '');
}
