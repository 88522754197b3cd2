/**
 * Parameters of requests, each with the chain that checks it. What a chain surely takes passes without it (`isPlain`),
 * as nearly every value does that comes. Measured: chains took a third of the time of a poll of the state.
 */
import { buildCheckFunction, type ValidationChain } from 'express-validator';
import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import { JsonBudgetError, parseJson } from '../request/json-budget.js';

/**
 * Where a parameter travels. `query`: in the query, or, where the input reads a body and the query lacks the name,
 * in the JSON body. `query-only` and `body`: in the query or the JSON body alone.
 */
export type Place = 'query' | 'query-only' | 'body' | 'headers' | 'params';

/** One parameter of a request: the chain that checks it, and its type once checked. */
export interface Param<T> {
  readonly name: string;
  readonly place: Place;
  readonly required: boolean;
  readonly chain: ValidationChain;
  /** True for what the chain surely takes and leaves as it is: then it is not run. */
  readonly isPlain: (given: unknown) => boolean;
  /** Gives the checked value its type. */
  readonly typed: (checked: unknown) => T;
  /** The mark of the session that the value names: what a log line may say of it. */
  markOf?(value: T): string | undefined;
}

/** Checks text further. `chain` has text by then. */
type Refine = (chain: ValidationChain) => ValidationChain;

const same: Refine = (chain) => chain;

/** Says of a text that a refinement takes it and leaves it as it is. */
type IsPlainText = (text: string) => boolean;

const anyText: IsPlainText = () => true;
const noText: IsPlainText = () => false;

/** For parameters that are too rare to gain by it. */
const alwaysChecked = (): boolean => false;

/** Text that must be there. `purpose` says what is missing when it is; `isPlainText` belongs to `refine`. */
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

/** Text that may be absent; blank text and JSON's null count as absent. `isPlainText` belongs to `refine`. */
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

/** A list of texts that must be there, at least one. */
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

/** A header whose value is taken as it is; an empty one counts as absent. */
export function optionalHeader(name: string): Param<string | undefined> {
  const param = optionalText('headers', name);
  const typed = (checked: unknown) => (checked === '' ? undefined : param.typed(checked));
  return { ...param, typed };
}

/** The same parameter, with a value for when it is absent. */
export function withDefault<T>(param: Param<T | undefined>, value: T): Param<T> {
  const { name, place, required, chain, isPlain } = param;
  return { name, place, required, chain, isPlain, typed: (checked) => param.typed(checked) ?? value };
}

/** A whole number within bounds, in decimal digits. */
export function optionalInteger(
  place: Place,
  name: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): Param<number | undefined> {
  const bounds =
    max === Number.MAX_SAFE_INTEGER ? `of at least ${String(min)}` : `from ${String(min)} to ${String(max)}`;
  const isWithin = (text: string) => /^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max;
  const { chain, isPlain, typed } = optionalText(
    place,
    name,
    (text) => text.custom(isWithin).withMessage(`${name} must be an integer ${bounds}`),
    isWithin,
  );
  const asNumber = (checked: unknown) => {
    const text = typed(checked);
    return text === undefined ? undefined : Number(text);
  };
  return { name, place, required: false, chain, isPlain, typed: asNumber };
}

/** A whole number within bounds, as JSON has it. */
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

/** A JSON object, encoded as text in the query; in a body it may also stand as it is. Null counts as absent. */
export function optionalObject(place: Place, name: string): Param<JsonObject | undefined> {
  const chain = start(place, name)
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

/** A JSON object that must be there. */
export function requiredObject(place: Place, name: string, purpose: string): Param<JsonObject> {
  const chain = start(place, name)
    .exists({ values: 'null' })
    .withMessage(`${name} is required: ${purpose}`)
    .bail()
    .custom(isJsonObject)
    .withMessage(`${name} must be a JSON object`);
  const typed = (checked: unknown) => {
    if (!isJsonObject(checked)) throw new TypeError('a checked object is not one');
    return checked;
  };
  return { name, place, required: true, chain, isPlain: isJsonObject, typed };
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

function asText(checked: unknown): string {
  if (typeof checked !== 'string') throw new TypeError('a checked text is not text');
  return checked;
}

/**
 * Text that is not JSON stays text, which is then refused for not being an object; what exceeds the budget becomes its
 * error.
 */
function parsedJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return parseJson(value);
  } catch (error) {
    return error instanceof JsonBudgetError ? error : value;
  }
}
