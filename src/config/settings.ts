import type { Mistake } from './mistakes.js';

/** Parses the text of a setting. Returns the value, or in `wrong` a description of valid values. */
export type Parse<T> = (text: string) => { readonly value: T } | { readonly wrong: string };

/** The text of a setting, and its source. */
export interface Found {
  readonly text: string;
  /** The name of the source in messages about mistakes. */
  readonly where: string;
  /** Whether messages about mistakes may quote the text. */
  readonly quotable: boolean;
}

/** Reads settings and collects the mistakes in them. */
export class SettingsReader {
  readonly mistakes: Mistake[] = [];
  readonly names: string[] = [];

  constructor(private readonly find: (name: string) => Found | undefined) {}

  /** Returns the value of a setting, or its default when it is not set or invalid. Adds invalid ones to `mistakes`. */
  read<T>(name: string, byDefault: T, parse: Parse<T>, options: { secret?: boolean } = {}): T {
    this.names.push(name);
    const found = this.find(name);
    if (found === undefined) return byDefault;
    const parsed = parse(found.text.trim());
    if ('value' in parsed) return parsed.value;
    const quote = found.quotable && options.secret !== true && found.text.length <= 60;
    const what = quote ? `${parsed.wrong}, not ${JSON.stringify(found.text)}` : parsed.wrong;
    this.mistakes.push({ where: found.where, what });
    return byDefault;
  }
}

/** Any text that is not blank. */
export const text: Parse<string> = (value) => ({ value });

/** A whole number from `min` to `max`, both inclusive. */
export function integer(min: number, max: number): Parse<number> {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return { value: number };
    return { wrong: `must be a whole number from ${String(min)} to ${String(max)}` };
  };
}

/** The limit of `setTimeout` is 2^31 - 1 ms. */
const MAX_SECONDS = 2_147_483;

/** Seconds, decimals allowed. The value is in milliseconds. */
export const seconds = secondsUpTo(MAX_SECONDS);

/** As `seconds`, with another maximum. */
export function secondsUpTo(max: number): Parse<number> {
  return (value) => {
    const number = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : NaN;
    if (number >= 0.001 && number <= max) return { value: Math.round(number * 1000) };
    return { wrong: `must be a number of seconds from 0.001 to ${String(max)}` };
  };
}

/** YAML 1.1, as Helm and other tools read it, takes an unquoted `off` for `false`. */
const OFF = /^(off|false|no)$/i;

/** Days, or `off` (null). The value is in milliseconds. */
export const daysOrOff: Parse<number | null> = (value) => {
  if (OFF.test(value)) return { value: null };
  const number = /^\d{1,6}(\.\d{1,6})?$/.test(value) ? Number(value) : NaN;
  if (number > 0) return { value: Math.round(number * 86_400_000) };
  return { wrong: 'must be a number of days above 0, or off' };
};

/** `on` or `off`, or a common synonym. */
export const onOff: Parse<boolean> = (value) => {
  if (/^(on|true|yes|1)$/i.test(value)) return { value: true };
  return OFF.test(value) || value === '0' ? { value: false } : { wrong: 'must be on or off' };
};

/** `off`, or a common synonym, or `required`. */
export const offOrRequired: Parse<'off' | 'required'> = (value) => {
  if (OFF.test(value)) return { value: 'off' };
  return value === 'required' ? { value } : { wrong: 'must be off or required' };
};

/** A token that is valid in a header. */
export const token: Parse<string> = (value) =>
  /^[\x21-\x7e]{16,}$/.test(value)
    ? { value }
    : { wrong: 'must have at least 16 characters, without blanks: `openssl rand -hex 32` makes one' };

/** One of a few words. */
export function oneOf<T extends string>(words: readonly T[]): Parse<T> {
  return (value) => {
    const word = words.find((candidate) => candidate === value);
    return word === undefined ? { wrong: `must be one of ${words.join(', ')}` } : { value: word };
  };
}

/** One or more of a few words, separated by commas, without repetition. */
export function someOf<T extends string>(words: readonly T[]): Parse<readonly T[]> {
  return (value) => {
    const parts = listed(value);
    const known = words.filter((word) => parts.includes(word));
    const fits = known.length > 0 && known.length === parts.length;
    return fits
      ? { value: known }
      : { wrong: `must be one or more of ${words.join(', ')}, separated by commas` };
  };
}

/** An ISO 8601 date, with or without a time; the value is in milliseconds since the epoch. */
export const isoDate: Parse<number> = (value) => {
  const at = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(value)
    ? Date.parse(value)
    : NaN;
  // Date.parse accepts February 30 and returns a day in March.
  const day = Number(value.slice(8, 10));
  const exists =
    day <= new Date(Date.UTC(Number(value.slice(0, 4)), Number(value.slice(5, 7)), 0)).getUTCDate();
  if (!Number.isNaN(at) && exists) return { value: at };
  return { wrong: 'must be an ISO 8601 date such as 2026-01-31 or 2026-01-31T12:00:00Z' };
};

/** An http or https URL. */
export const webUrl: Parse<string> = (value) => {
  return isWebUrl(value) ? { value } : { wrong: 'must be an http or https URL' };
};

/** Whether a text is an `http:` or `https:` URL. */
export function isWebUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** Splits a comma-separated list. Trims its parts and drops empty ones. */
export function listed(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Checks that the sunset is not before the deprecation (RFC 9745). */
export function endMistakes(dates: {
  readonly deprecatedAt: number | null;
  readonly sunsetAt: number | null;
}): readonly Mistake[] {
  const { deprecatedAt, sunsetAt } = dates;
  if (deprecatedAt === null || sunsetAt === null || sunsetAt >= deprecatedAt) return [];
  return [{ where: 'LEGACY_SUNSET_AT', what: 'must not be before LEGACY_DEPRECATED_AT' }];
}
