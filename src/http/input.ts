import type { Request, RequestHandler, Response } from 'express';
import { RefusedError, type Problem } from '../core/refusal.js';
import { readBody } from './body.js';
import { exchangeOf } from './exchange.js';
import type { Param } from './params.js';

/**
 * What becomes of the body. `ignored`: it is not read. `fills`: its names stand in for those that the query lacks; it is
 * needed only when a required one is missing there. `documented`: likewise, but needed unless the query has every name.
 * `needed`: what cannot be used is refused.
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
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly params: Record<string, unknown>;
}

/** A handler that gets the request's parameters checked and typed. Refuses the request with all that is wrong with it. */
export function handle<T>(
  input: Input<T>,
  act: (asked: T, req: Request, res: Response) => Promise<void> | void,
): RequestHandler {
  const entries = Object.entries<Param<unknown>>(input.params).map(([key, param]): Entry => ({
    ...{ key, param },
    given: param.place === 'headers' ? param.name.toLowerCase() : param.name,
  }));
  return (req, res) => {
    if (input.body === 'ignored') {
      const values = readPlain(input, entries, req);
      if (values !== undefined) return act(values, req, res);
    }
    return readChecked(input, entries, req, res).then((values) => act(values, req, res));
  };
}

/** A parameter with the name that code knows it by, and the one that it is given by at its place. */
interface Entry {
  readonly key: string;
  readonly param: Param<unknown>;
  readonly given: string;
}

/** Reads the parameters without a promise: undefined when one of them needs its chain. Nearly every request of a poll is read so. */
function readPlain<T>({ params }: Input<T>, entries: readonly Entry[], req: Request): T | undefined {
  const source = sourceOf(req);
  const values: Record<string, unknown> = {};
  for (const { key, param, given } of entries) {
    const value = source[param.place][given];
    if (!param.isPlain(value)) return undefined;
    values[key] = param.typed(value);
  }
  note(req, entries, values);
  if (!isComplete(params, values)) throw new TypeError('a parameter was not read');
  return values;
}

async function readChecked<T>(
  { params, body, maxBytes }: Input<T>,
  entries: readonly Entry[],
  req: Request,
  res: Response,
): Promise<T> {
  const source = await gather(entries, { rule: body, maxBytes }, req, res);
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const { key, param, given } of entries) {
    let checked = source[param.place][given];
    if (!param.isPlain(checked)) {
      const outcome = await param.chain.run(source, { dryRun: true });
      const [failure] = outcome.array();
      if (failure !== undefined) {
        problems.push({ path: param.name, message: String(failure.msg) });
        continue;
      }
      checked = outcome.context.getData()[0]?.value;
    }
    values[key] = param.typed(checked);
  }
  note(req, entries, values);
  const [first] = problems;
  if (first !== undefined) throw new RefusedError('invalid', first.message, problems);
  if (!isComplete(params, values)) throw new TypeError('a parameter was not read');
  return values;
}

/** Notes for the log line what it may say of the parameters that could be read. */
function note(req: Request, entries: readonly Entry[], values: Readonly<Record<string, unknown>>): void {
  const { logged } = exchangeOf(req);
  for (const { key, param } of entries) {
    if (param.logged !== undefined && Object.hasOwn(values, key))
      Object.assign(logged, param.logged(values[key]));
  }
}

function isComplete<T>(params: Input<T>['params'], values: object): values is T & object {
  for (const key in params) if (!Object.hasOwn(values, key)) return false;
  return true;
}

/** Most requests have none. */
const NO_QUERY: Record<string, unknown> = Object.freeze({});

function sourceOf(req: Request): Source {
  const query = req.url.includes('?') ? req.query : NO_QUERY;
  return { query, body: {}, headers: req.headers, params: req.params };
}

/** @throws the body's error when it is needed and cannot be used */
async function gather(
  entries: readonly Entry[],
  { rule, maxBytes }: { readonly rule: BodyRule; readonly maxBytes: number | undefined },
  req: Request,
  res: Response,
): Promise<Source> {
  const source = sourceOf(req);
  const { query } = source;
  if (rule === 'ignored') return source;
  const body = await readBody(req, res, maxBytes);
  if (body.kind === 'none') return source;
  if (body.kind === 'object') return { ...source, query: { ...body.fields, ...query }, body: body.fields };
  const isMissing = (param: Param<unknown>) => param.place === 'query' && !Object.hasOwn(query, param.name);
  const isNeeded =
    rule === 'needed' ||
    entries.some(({ param }) => isMissing(param) && (param.required || rule === 'documented'));
  if (isNeeded) throw body.error;
  return source;
}
