import { pathOf } from '../../../src/http/request/target.js';
import { refusalWith } from '../../../src/surfaces/openapi/refusals.js';
import type {
  Document,
  Header,
  Operation,
  OperationMethod,
  PathItem,
  Response,
} from '../../../src/surfaces/openapi/document.js';
import type { RootSurface, SurfaceName } from '../../../src/surfaces/index.js';
import { documents, resolveHeader, resolveResponse } from './documents.js';

/** An answer that a document promises. */
export interface Promised {
  readonly surface: SurfaceName;
  readonly document: Document;
  readonly response: Response;
}

/** Where a request went. */
interface Target {
  readonly surface: SurfaceName;
  readonly document: Document;
  readonly template: string;
  readonly item: PathItem;
}

/**
 * What the documents promise for a request with this status: an answer from each surface whose operation it is. Merged,
 * an answer must keep both promises at once, but errors have one shape, with the headers of both. Empty: the status is
 * not documented.
 * @param exposed the surfaces that are served
 */
export function promisedAnswers(
  exposed: readonly SurfaceName[],
  {
    method,
    url,
    status,
    root,
  }: { readonly method: string; readonly url: string; readonly status: number; readonly root: RootSurface },
): readonly Promised[] {
  const path = pathOf(url);
  const own = exposed.find((name) => new RegExp(`^/${name}(/|$)`, 'i').test(path));
  const names = own === undefined ? surfacesAtRoot(exposed, root) : [own];
  const verb = operationMethod(method);
  const local = own === undefined ? path : path.slice(own.length + 1);
  const targets = findTargets(names, local, { atRoot: own === undefined, verb });
  const operations = targets.flatMap((target) => {
    const operation = verb === undefined ? undefined : target.item[verb];
    return operation === undefined ? [] : [{ ...target, operation }];
  });
  if (operations.length === 0) {
    return shared(
      status === 404 || targets.length === 0 ? names : targets.map(({ surface }) => surface),
      status,
    );
  }
  const documented = operations.flatMap(({ surface, document, operation }): Promised[] => {
    const response = responseOf(operation, status);
    return response === undefined
      ? []
      : [{ surface, document, response: resolveResponse(document, response) }];
  });
  if (status < 400 || documented.length === 0) return documented;
  const shape = errorSurface(operations.map(({ surface }) => surface));
  const ofShape = documented.filter(({ surface }) => surface === shape);
  const headers = Object.fromEntries(documented.flatMap(headersOf));
  return (ofShape.length > 0 ? ofShape : shared([shape], status)).map((promised) => ({
    ...promised,
    response: { ...promised.response, headers: { ...headers, ...promised.response.headers } },
  }));
}

/** The headers of an answer by name, which another document can take over. */
function headersOf({ document, response }: Promised): readonly (readonly [string, Header])[] {
  const headers = Object.entries(response.headers ?? {});
  return headers.map(([name, header]) => [name, resolveHeader(document, header)]);
}

/** The same for a request that never became one. */
export function promisedToBroken(
  exposed: readonly SurfaceName[],
  { status, root }: { readonly status: number; readonly root: RootSurface },
): readonly Promised[] {
  return shared(surfacesAtRoot(exposed, root), status);
}

/** The surfaces that `/api` is merged from. */
function surfacesAtRoot(exposed: readonly SurfaceName[], root: RootSurface): readonly SurfaceName[] {
  const merged = exposed.filter((name) => name !== 'field');
  return root === 'field' || merged.length === 0 ? ['field'] : merged;
}

/** What is shared by all requests of these surfaces, in the shape of their errors. */
function shared(names: readonly SurfaceName[], status: number): readonly Promised[] {
  const surface = errorSurface(names);
  const document = documents[surface];
  const response = document.components.responses[refusalWith(status) ?? ''];
  return response === undefined ? [] : [{ surface, document, response }];
}

function errorSurface(names: readonly SurfaceName[]): SurfaceName {
  if (names.includes('current')) return 'current';
  return names[0] ?? 'legacy';
}

function responseOf({ responses }: Operation, status: number) {
  return responses[String(status)];
}

/** The paths that match, and of those that have the method, if any has it, the ones with the fewest parameters. */
function findTargets(
  names: readonly SurfaceName[],
  path: string,
  { atRoot, verb }: { readonly atRoot: boolean; readonly verb: OperationMethod | undefined },
): readonly Target[] {
  if (!isDecodable(path)) return [];
  const matching = names.flatMap((surface) => {
    const document = documents[surface];
    return Object.entries(document.paths)
      .filter(([template, item]) => (atRoot || item.servers === undefined) && matcher(template).test(path))
      .map(([template, item]): Target => ({ surface, document, template, item }));
  });
  const taking = matching.filter(({ item }) => verb !== undefined && item[verb] !== undefined);
  const candidates = taking.length > 0 ? taking : matching;
  const fewest = Math.min(...candidates.map(({ template }) => parametersIn(template)));
  return candidates.filter(({ template }) => parametersIn(template) === fewest);
}

const matchers = new Map<string, RegExp>();

/** As Express matches: in any case, with or without a last slash. */
function matcher(template: string): RegExp {
  let pattern = matchers.get(template);
  if (pattern === undefined) {
    pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`, 'i');
    matchers.set(template, pattern);
  }
  return pattern;
}

function parametersIn(template: string): number {
  return template.split('{').length - 1;
}

function operationMethod(method: string): OperationMethod | undefined {
  const methods = { GET: 'get', HEAD: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;
  return Object.entries(methods).find(([name]) => name === method)?.[1];
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
