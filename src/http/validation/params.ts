/**
 * Parameters of requests, each with the express-validator chain that checks it. Valid values skip the slow chain when
 * `isPlain` recognizes them, as it does nearly always.
 */
import { buildCheckFunction, type ValidationChain } from 'express-validator';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/model/json.js';
import type { Problem } from '../../core/model/refusal.js';
import { JsonBudgetError, parseJson } from '../request/json-budget.js';

/**
 * Where a parameter is read from. `query`: the query, or the JSON body if the input reads one and the query lacks the
 * name. `query-only` and `body`: only the query or only the JSON body.
 */
export type Place = 'query' | 'query-only' | 'body' | 'headers' | 'params';

/** One parameter of a request: its validation chain and its type. */
export interface Param<T> {
  readonly name: string;
  readonly place: Place;
  readonly required: boolean;
  readonly chain: ValidationChain;
  /** True only for values that the chain would accept unchanged; the chain is then skipped. */
  readonly isPlain: (given: unknown) => boolean;
  /** Converts the checked value to its type. */
  readonly typed: (checked: unknown) => T;
  /** Returns the log mark of the session that the value names. */
  markOf?(value: T): string | undefined;
}

/** Adds checks to a chain whose value is already known to be text. */
type Refine = (chain: ValidationChain) => ValidationChain;

const same: Refine = (chain) => chain;

/** True for text that a refinement accepts unchanged. */
type IsPlainText = (text: string) => boolean;

const anyText: IsPlainText = () => true;
const noText: IsPlainText = () => false;

/** For parameters that are too rare to need the fast path. */
const alwaysChecked = (): boolean => false;

/**
 * A required text.
 * @param purpose completes the error message when the text is missing
 * @param isPlainText must match `refine`
 */
export function requiredText(
  place: Place,
  name: string,
  purpose: string,
  refine = same,
  isPlainText: IsPlainText = refine === same ? anyText : noText,
): Param<string> {
  const chain = start(place, name)
    .exists({ values: 'null' })
    .withMessage(`${name} is required: ${purpose}`)
    .bail()
    .custom(isText)
    .withMessage(`${name} must be given once, as text`)
    .bail();
  const isPlain = (given: unknown) => typeof given === 'string' && isPlainText(given);
  return { name, place, required: true, chain: refine(chain), isPlain, typed: asText };
}

/**
 * An optional text. Blank text and JSON `null` count as absent.
 * @param isPlainText must match `refine`
 */
export function optionalText(
  place: Place,
  name: string,
  refine = same,
  isPlainText: IsPlainText = refine === same ? anyText : noText,
): Param<string | undefined> {
  const chain = start(place, name)
    .optional({ values: 'null' })
    .custom(isText)
    .withMessage(`${name} must be given once, as text`)
    .bail();
  const typed = (checked: unknown) => (typeof checked === 'string' ? checked : undefined);
  const isPlain = (given: unknown) =>
    given === undefined || given === null || (typeof given === 'string' && isPlainText(given));
  return { name, place, required: false, chain: refine(chain), isPlain, typed };
}

/** A required, non-empty list of texts. */
export function requiredTexts(place: Place, name: string, purpose: string): Param<readonly string[]> {
  const chain = start(place, name)
    .exists({ values: 'null' })
    .withMessage(`${name} is required: ${purpose}`)
    .bail()
    .custom((value) => isTexts(value) && value.length > 0)
    .withMessage(`${name} must be a list of texts, not empty`);
  const typed = (checked: unknown) => (isTexts(checked) ? checked : []);
  return { name, place, required: true, chain, isPlain: alwaysChecked, typed };
}

/** An optional header, taken unchanged. An empty one counts as absent. */
export function optionalHeader(name: string): Param<string | undefined> {
  const param = optionalText('headers', name);
  const typed = (checked: unknown) => (checked === '' ? undefined : param.typed(checked));
  return { ...param, typed };
}

/** Returns the same parameter with a default value. */
export function withDefault<T>(param: Param<T | undefined>, value: T): Param<T> {
  const { name, place, required, chain, isPlain } = param;
  return { name, place, required, chain, isPlain, typed: (checked) => param.typed(checked) ?? value };
}

/** An optional integer within bounds, in decimal digits. An empty header counts as absent. */
export function optionalInteger(
  place: Place,
  name: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): Param<number | undefined> {
  const bounds =
    max === Number.MAX_SAFE_INTEGER ? `of at least ${String(min)}` : `from ${String(min)} to ${String(max)}`;
  const isAbsent = (text: string) => place === 'headers' && text === '';
  const isWithin = (text: string) =>
    isAbsent(text) || (/^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max);
  const { chain, isPlain, typed } = optionalText(
    place,
    name,
    (text) => text.custom(isWithin).withMessage(`${name} must be an integer ${bounds}`),
    isWithin,
  );
  const asNumber = (checked: unknown) => {
    const text = typed(checked);
    return text === undefined || isAbsent(text) ? undefined : Number(text);
  };
  return { name, place, required: false, chain, isPlain, typed: asNumber };
}

/** An optional integer within bounds, as a JSON number. */
export function optionalNumber(
  place: Place,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
): Param<number | undefined> {
  const chain = start(place, name)
    .optional({ values: 'null' })
    .custom((value) => Number.isInteger(value) && value >= min && value <= max)
    .withMessage(`${name} must be a whole number from ${String(min)} to ${String(max)}`);
  const typed = (checked: unknown) => (typeof checked === 'number' ? checked : undefined);
  return { name, place, required: false, chain, isPlain: alwaysChecked, typed };
}

/**
 * An optional JSON object, encoded as text; in a body it may also be a plain object. `null` counts as absent.
 * @param maxBytes of the text
 */
export function optionalObject(
  place: Place,
  name: string,
  maxBytes = Infinity,
): Param<JsonObject | undefined> {
  const chain = start(place, name)
    .custom((value) => typeof value !== 'string' || Buffer.byteLength(value) <= maxBytes)
    .withMessage(`${name} must have at most ${String(maxBytes / 1024)} KiB`)
    .bail()
    .customSanitizer(parsedJson)
    .optional({ values: 'null' })
    .custom((value) => isJsonObject(value) && !(value instanceof JsonBudgetError))
    .withMessage((value) =>
      value instanceof JsonBudgetError ? `${name} ${value.message}` : `${name} must be a JSON-encoded object`,
    );
  const typed = (checked: unknown) => (isJsonObject(checked) ? checked : undefined);
  const isPlain = (given: unknown) => given === undefined || given === null || isJsonObject(given);
  return { name, place, required: false, chain, isPlain, typed };
}

/** A required JSON object. In a query it is encoded as text. */
export function requiredObject(place: Place, name: string, purpose: string): Param<JsonObject> {
  const isEncoded = place === 'query';
  const chain = start(place, name)
    .customSanitizer((value: unknown) => (isEncoded ? parsedJson(value) : value))
    .exists({ values: 'null' })
    .withMessage(`${name} is required: ${purpose}`)
    .bail()
    .custom((value) => isJsonObject(value) && !(value instanceof JsonBudgetError))
    .withMessage(`${name} must be a JSON object`);
  const typed = (checked: unknown) => {
    if (!isJsonObject(checked)) throw new TypeError('a validated value is not an object');
    return checked;
  };
  return { name, place, required: true, chain, isPlain: isJsonObject, typed };
}

/** The value of a part of a body, or what is wrong with it. */
export type ReadPart<T> =
  { readonly value: T; readonly problems?: undefined } | { readonly problems: readonly Problem[] };

/**
 * A required list of 1 to `max` items, as JSON in a query. `read` checks an item; problems have paths like `items[0].name`.
 * @param purpose completes the error message when the list is missing
 */
export function requiredItems<T>(
  place: Place,
  name: string,
  purpose: string,
  { max, read }: { readonly max: number; readonly read: (item: JsonValue, path: string) => ReadPart<T> },
): Param<readonly T[]> {
  const readAll = (items: readonly JsonValue[]) =>
    items.map((item, index) => read(item, `${name}[${String(index)}]`));
  const problemsOf = (value: unknown) =>
    isList(value) ? readAll(value).flatMap(({ problems }) => problems ?? []) : [];
  const chain = start(place, name)
    .customSanitizer((value: unknown) => (place === 'query' ? parsedJson(value) : value))
    .exists({ values: 'null' })
    .withMessage(`${name} is required: ${purpose}`)
    .bail()
    .custom((value) => isList(value) && value.length >= 1 && value.length <= max)
    .withMessage(`${name} must be a list of 1 to ${String(max)} items`)
    .bail()
    .custom((value) => problemsOf(value).length === 0)
    .withMessage(problemsOf);
  const typed = (checked: unknown) =>
    (isList(checked) ? readAll(checked) : []).flatMap((part) =>
      part.problems === undefined ? [part.value] : [],
    );
  return { name, place, required: true, chain, isPlain: alwaysChecked, typed };
}

/**
 * An optional value of any JSON type. JSON `null` counts as absent.
 * @param read returns undefined for a value that is not `expected`
 */
export function optionalValue<T>(
  place: Place,
  name: string,
  { expected, read }: { readonly expected: string; readonly read: (value: unknown) => T | undefined },
): Param<T | undefined> {
  const chain = start(place, name)
    .optional({ values: 'null' })
    .custom((value) => read(value) !== undefined)
    .withMessage(`${name} must be ${expected}`);
  return { name, place, required: false, chain, isPlain: alwaysChecked, typed: read };
}

/**
 * A required value of any JSON type.
 * @param purpose completes the error message when the value is missing
 * @param read returns undefined for a value that is not `expected`
 */
export function requiredValue<T>(
  place: Place,
  name: string,
  purpose: string,
  { expected, read }: { readonly expected: string; readonly read: (value: unknown) => T | undefined },
): Param<T> {
  const chain = start(place, name)
    .exists({ values: 'null' })
    .withMessage(`${name} is required: ${purpose}`)
    .bail()
    .custom((value) => read(value) !== undefined)
    .withMessage(`${name} must be ${expected}`);
  const typed = (checked: unknown) => {
    const value = read(checked);
    if (value === undefined) throw new TypeError('a validated value cannot be read');
    return value;
  };
  return { name, place, required: true, chain, isPlain: alwaysChecked, typed };
}

function start(place: Place, name: string): ValidationChain {
  return buildCheckFunction([place === 'query-only' ? 'query' : place])(name);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function asText(checked: unknown): string {
  if (typeof checked !== 'string') throw new TypeError('a validated value is not text');
  return checked;
}

/**
 * Parses text as JSON. Returns text that is not JSON unchanged, so that it is refused for not being an object, and
 * returns the `JsonBudgetError` when the limits are exceeded.
 */
function parsedJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return parseJson(value);
  } catch (error) {
    return error instanceof JsonBudgetError ? error : value;
  }
}
