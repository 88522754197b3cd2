import type { Request, RequestHandler, Response } from 'express';
import { RefusedError, type Problem } from '../../core/model/refusal.js';
import { readBody } from '../request/body.js';
import { exchangeOf } from '../request/exchange.js';
import type { Param } from './params.js';
import { readQuery } from './query.js';

/**
 * What becomes of the body. `ignored`: it is not read. `fills`: its names stand in for those that the query lacks; it
 * is needed only when a required one is missing there. `documented`: likewise, but needed unless the query has every
 * name. `needed`: what cannot be used is refused.
 */
export type BodyRule = 'ignored' | 'fills' | 'documented' | 'needed';

/** What a request is asked for: its parameters by the names that code knows them by. */
export interface Input<T> {
  readonly params: { readonly [K in keyof T]: Param<T[K]> };
  readonly body: BodyRule;
  /** The size limit of the body in bytes; absent: 1 MiB. */
  readonly maxBytes?: number;
}

/** Lets the compiler find out what the parameters give. */
export function input<T>(body: BodyRule, params: Input<T>['params']): Input<T> {
  return { body, params };
}

/** The request as the chains see it. */
interface Source {
  /** The query, with what the body says where it lacks a name. */
  readonly query: Record<string, unknown>;
  readonly queryOnly: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly params: Record<string, unknown>;
}

/**
 * A handler that gets the request's parameters checked and typed. Refuses the request with all that is wrong with it.
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

/** An input as it is read. */
interface Asked<T> {
  readonly input: Input<T>;
  readonly entries: readonly Entry[];
  /** Those that say something where there is no query: nearly all polls come without one. */
  readonly besideQuery: readonly Entry[];
  /** The names that the query may have. */
  readonly queryNames: ReadonlySet<string>;
  /** The keys of those that must be there. */
  readonly required: readonly string[];
}

/** A parameter with the name that code knows it by, and the one that it is given by at its place. */
interface Entry {
  readonly key: string;
  readonly param: Param<unknown>;
  readonly given: string;
}

/** What was given for a parameter. Blank text for one that may be absent is nothing, other than in a header. */
function givenFor(source: Source, entry: Entry): unknown {
  const value = valueOf(source, entry);
  const { required, place } = entry.param;
  const mayBeBlank = !required && place !== 'headers' && typeof value === 'string';
  return mayBeBlank && value.trim() === '' ? undefined : value;
}

/** Each place by its own name: by a name from a variable it takes several times as long. */
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

/** Whether its absence says nothing: it stands for no value. */
function saysNothingWhenAbsent({ isPlain, typed }: Param<unknown>): boolean {
  return isPlain(undefined) && typed(undefined) === undefined;
}

/**
 * Reads the parameters without a promise: undefined when one of them needs its chain. Nearly every request of a poll is
 * read so.
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
        problems.push({ path: param.name, message: String(failure.msg) });
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

/**
 * Adds a value that was found good, and notes for the log line which session it names. What is absent is left out: an
 * object that grows by a key from a variable costs 0.1 µs a key, and few of the parameters that may be there are.
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

/** Most requests have none. */
const NO_QUERY: Record<string, unknown> = Object.freeze({});

function sourceOf(req: Request, names: ReadonlySet<string>): Source {
  const query = req.url.includes('?') ? readQuery(req.url, names) : NO_QUERY;
  return { query, queryOnly: query, body: {}, headers: req.headers, params: req.params };
}

/** @throws the body's error when it is needed and cannot be used */
async function gather<T>(
  { entries, queryNames, input: { body: rule, maxBytes } }: Asked<T>,
  req: Request,
  res: Response,
): Promise<Source> {
  const source = sourceOf(req, queryNames);
  const { query } = source;
  if (rule === 'ignored') return source;
  const body = await readBody(req, res, maxBytes);
  if (body.kind === 'none') return source;
  if (body.kind === 'object') {
    // Without a query the body's names are taken as they are: a copy of them takes 2 KB of garbage.
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
