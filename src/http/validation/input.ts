import type { Request, RequestHandler, Response } from 'express';
import { RefusedError, type Problem } from '../../core/model/refusal.js';
import { readBody } from '../request/body.js';
import { exchangeOf } from '../request/exchange.js';
import type { Param } from './params.js';
import { readQuery } from './query.js';

/**
 * How an input uses the body. `ignored`: not read. `fills`: supplies names that the query lacks; an unusable body is an
 * error only when the query lacks a required name. `documented`: as `fills`, but an error whenever the query lacks any
 * name. `needed`: an unusable body is always an error.
 */
export type BodyRule = 'ignored' | 'fills' | 'documented' | 'needed';

/** The input of a route: its parameters, by the names that the code uses. */
export interface Input<T> {
  readonly params: { readonly [K in keyof T]: Param<T[K]> };
  readonly body: BodyRule;
  /** The size limit of the body in bytes; absent: 1 MiB. */
  readonly maxBytes?: number;
}

/** Defines an input; the compiler infers the types of its values. */
export function input<T>(body: BodyRule, params: Input<T>['params']): Input<T> {
  return { body, params };
}

/** The request in the form that validation chains read. */
interface Source {
  /** The query, supplemented by the body. */
  readonly query: Record<string, unknown>;
  readonly queryOnly: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly params: Record<string, unknown>;
}

/**
 * Creates a handler that receives the checked and typed parameters. Refuses an invalid request with a list of all
 * problems.
 */
export function handle<T>(
  input: Input<T>,
  act: (asked: T, req: Request, res: Response) => Promise<void> | void,
): RequestHandler {
  const asked = askedOf(input);
  return (req, res) => {
    if (input.body === 'ignored') {
      const values = readPlain(asked, req);
      if (values !== undefined) return act(values, req, res);
    }
    return readChecked(asked, req, res).then((values) => act(values, req, res));
  };
}

/** An input, prepared for reading. */
interface Asked<T> {
  readonly input: Input<T>;
  readonly entries: readonly Entry[];
  /** The entries to read when a request has no query, as nearly all polls do not. */
  readonly besideQuery: readonly Entry[];
  /** The query parameters of the input. */
  readonly queryNames: ReadonlySet<string>;
  /** The keys of required parameters. */
  readonly required: readonly string[];
}

/** A parameter with its key in the code and its name in the request (header names in lower case). */
interface Entry {
  readonly key: string;
  readonly param: Param<unknown>;
  readonly given: string;
}

/** Returns the value of a parameter. Blank text counts as absent for an optional parameter that is not a header. */
function givenFor(source: Source, entry: Entry): unknown {
  const value = valueOf(source, entry);
  const mayBeBlank = !entry.param.required && entry.param.place !== 'headers';
  return mayBeBlank && isBlank(value) ? undefined : value;
}

/** True for text without any character but white space. */
export function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

/** Accesses each place as a static property: a dynamic property name is slower. */
function valueOf(
  { query, queryOnly, headers, params, body }: Source,
  { param: { place }, given }: Entry,
): unknown {
  if (place === 'query') return query === NO_QUERY ? undefined : query[given];
  if (place === 'query-only') return queryOnly[given];
  if (place === 'headers') return headers[given];
  return place === 'params' ? params[given] : body[given];
}

function askedOf<T>(input: Input<T>): Asked<T> {
  const all = Object.entries<Param<unknown>>(input.params);
  const entries = all.map(([key, param]) => ({
    ...{ key, param },
    given: param.place === 'headers' ? param.name.toLowerCase() : param.name,
  }));
  const inQuery = entries.filter(({ param: { place } }) => place === 'query' || place === 'query-only');
  return {
    input,
    entries,
    besideQuery: entries.filter((entry) => !inQuery.includes(entry) || !saysNothingWhenAbsent(entry.param)),
    queryNames: new Set(inQuery.map(({ given }) => given)),
    required: all.flatMap(([key, { required }]) => (required ? [key] : [])),
  };
}

/** True when the absent parameter has no value, not even a default. */
function saysNothingWhenAbsent({ isPlain, typed }: Param<unknown>): boolean {
  return isPlain(undefined) && typed(undefined) === undefined;
}

/**
 * Reads the parameters synchronously; undefined when one of them needs its validation chain. Serves nearly every poll.
 */
function readPlain<T>(asked: Asked<T>, req: Request): T | undefined {
  const source = sourceOf(req, asked.queryNames);
  const values: Record<string, unknown> = {};
  for (const entry of source.query === NO_QUERY ? asked.besideQuery : asked.entries) {
    const value = givenFor(source, entry);
    if (!entry.param.isPlain(value)) return undefined;
    keep(req, values, entry, value);
  }
  if (!isComplete(asked, values)) throw new TypeError('a parameter was not read');
  return values;
}

async function readChecked<T>(asked: Asked<T>, req: Request, res: Response): Promise<T> {
  const { entries } = asked;
  const source = await gather(asked, req, res);
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const entry of entries) {
    const { param } = entry;
    let checked = givenFor(source, entry);
    if (!param.isPlain(checked)) {
      const seen = param.place === 'query-only' ? { ...source, query: source.queryOnly } : source;
      const outcome = await param.chain.run(seen, { dryRun: true });
      const [failure] = outcome.array();
      if (failure !== undefined) {
        problems.push(...problemsOf(param, failure.msg));
        continue;
      }
      checked = outcome.context.getData()[0]?.value;
    }
    keep(req, values, entry, checked);
  }
  const [first] = problems;
  if (first !== undefined) throw new RefusedError('invalid', first.message, problems);
  if (!isComplete(asked, values)) throw new TypeError('a parameter was not read');
  return values;
}

/** Returns the problems of a parameter: a list of them, where its parts have paths of their own, or one message. */
function problemsOf({ name }: Param<unknown>, message: unknown): readonly Problem[] {
  return isProblems(message) ? message : [{ path: name, message: String(message) }];
}

function isProblems(message: unknown): message is readonly Problem[] {
  return Array.isArray(message);
}

/**
 * Adds a checked value, and records the session that it names for the log line. Leaves out absent values, because
 * adding dynamic keys to an object is slow.
 */
function keep(req: Request, values: Record<string, unknown>, { key, param }: Entry, checked: unknown): void {
  const value = param.typed(checked);
  if (value === undefined) return;
  values[key] = value;
  if (param.markOf !== undefined) exchangeOf(req).session = param.markOf(value);
}

function isComplete<T>({ required }: Asked<T>, values: object): values is T & object {
  for (const key of required) if (!Object.hasOwn(values, key)) return false;
  return true;
}

const NO_QUERY: Record<string, unknown> = Object.freeze({});

function sourceOf(req: Request, names: ReadonlySet<string>): Source {
  const query = req.url.includes('?') ? readQuery(req.url, names) : NO_QUERY;
  return { query, queryOnly: query, body: {}, headers: req.headers, params: req.params };
}

/**
 * Reads the query and, depending on the rule, the body.
 * @throws the body's error when the body did not arrive in full, or is needed but cannot be used
 */
async function gather<T>(
  { entries, queryNames, input: { body: rule, maxBytes } }: Asked<T>,
  req: Request,
  res: Response,
): Promise<Source> {
  const source = sourceOf(req, queryNames);
  if (rule === 'ignored') return source;
  const query = withoutBlank(source.query, entries);
  const body = await readBody(req, res, maxBytes);
  if (body.kind === 'none') return source;
  if (body.kind === 'incomplete') throw body.error;
  if (body.kind === 'object') {
    // Without a query, uses the body's fields without copying them.
    const merged = query === NO_QUERY ? body.fields : { ...body.fields, ...query };
    return { ...source, query: merged, body: body.fields };
  }
  const isMissing = (param: Param<unknown>) => param.place === 'query' && !Object.hasOwn(query, param.name);
  const isNeeded =
    rule === 'needed' ||
    entries.some(({ param }) => isMissing(param) && (param.required || rule === 'documented'));
  if (isNeeded) throw body.error;
  return source;
}

/** Leaves out blank values of optional parameters, so that they do not hide those in the body. */
function withoutBlank(query: Source['query'], entries: readonly Entry[]): Source['query'] {
  const blank = entries.filter(({ param, given }) => !param.required && isBlank(query[given]));
  if (blank.length === 0) return query;
  return Object.fromEntries(
    Object.entries(query).filter(([name]) => blank.every(({ given }) => given !== name)),
  );
}
