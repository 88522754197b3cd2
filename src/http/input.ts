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
  const entries = Object.entries<Param<unknown>>(input.params);
  return async (req, res) => {
    await act(await read(input, entries, req, res), req, res);
  };
}

async function read<T>(
  { params, body, maxBytes }: Input<T>,
  entries: readonly (readonly [string, Param<unknown>])[],
  req: Request,
  res: Response,
): Promise<T> {
  const source = await gather(entries, { rule: body, maxBytes }, req, res);
  const { logged } = exchangeOf(req);
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [key, param] of entries) {
    let checked = givenIn(source, param);
    if (!param.isPlain(checked)) {
      const outcome = await param.chain.run(source, { dryRun: true });
      const [failure] = outcome.array();
      if (failure !== undefined) {
        problems.push({ path: param.name, message: String(failure.msg) });
        continue;
      }
      checked = outcome.context.getData()[0]?.value;
    }
    const value = param.typed(checked);
    values[key] = value;
    if (param.logged !== undefined) Object.assign(logged, param.logged(value));
  }
  const [first] = problems;
  if (first !== undefined) throw new RefusedError('invalid', first.message, problems);
  if (!isComplete(params, values)) throw new TypeError('a parameter was not read');
  return values;
}

function givenIn(source: Source, { place, name }: Param<unknown>): unknown {
  return source[place][place === 'headers' ? name.toLowerCase() : name];
}

function isComplete<T>(params: Input<T>['params'], values: object): values is T & object {
  return Object.keys(params).every((key) => Object.hasOwn(values, key));
}

/** @throws the body's error when it is needed and cannot be used */
async function gather(
  entries: readonly (readonly [string, Param<unknown>])[],
  { rule, maxBytes }: { readonly rule: BodyRule; readonly maxBytes: number | undefined },
  req: Request,
  res: Response,
): Promise<Source> {
  const query: Record<string, unknown> = req.query;
  const source = { query, body: {}, headers: req.headers, params: req.params };
  if (rule === 'ignored') return source;
  const body = await readBody(req, res, maxBytes);
  if (body.kind === 'none') return source;
  if (body.kind === 'object') return { ...source, query: { ...body.fields, ...query }, body: body.fields };
  const isMissing = (param: Param<unknown>) => param.place === 'query' && !Object.hasOwn(query, param.name);
  const isNeeded =
    rule === 'needed' ||
    entries.some(([, param]) => isMissing(param) && (param.required || rule === 'documented'));
  if (isNeeded) throw body.error;
  return source;
}
