import type { MediaType, Response, Schema } from '../../../src/surfaces/openapi/document.js';
import type { RootSurface, SurfaceName } from '../../../src/surfaces/index.js';
import { pathOf } from '../../../src/http/request/target.js';
import { findMistake, resolveHeader, resolveSchema } from './documents.js';
import { findStreamMistakes } from './frames.js';
import { promisedAnswers, promisedToBroken, type Promised } from './operations.js';

/** A request and its answer as they went over the wire. */
export interface Exchange {
  /** Undefined: what came was no request. */
  readonly request:
    | { readonly method: string; readonly url: string; readonly headers: Readonly<Record<string, unknown>> }
    | undefined;
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** False where the answer was cut off: then its body says nothing. */
  readonly isWhole: boolean;
}

/** What every HTTP answer may have, and what guards browsers: no part of the API. */
const GENERAL =
  /^(content-(type|length|security-policy)|date|connection|keep-alive|transfer-encoding|cache-control|vary|x-accel-buffering|cross-origin-.*|referrer-policy|x-content-type-options|x-frame-options|access-control-.*)$/;

/** What an answer says that the documents do not, and what it does not say that they promise. */
export function findViolations(
  exposed: readonly SurfaceName[],
  exchange: Exchange,
  root: RootSurface = 'merged',
): readonly string[] {
  const { request, status } = exchange;
  if (request !== undefined && isPage(request.url, status)) return [];
  const promised =
    request === undefined
      ? promisedToBroken(exposed, { status, root })
      : promisedAnswers(exposed, { ...request, status, root });
  const violations =
    promised.length === 0
      ? ['the status is not documented']
      : [...headerMistakes(promised, exchange), ...bodyMistakes(promised, exchange)];
  const name = request === undefined ? 'a broken request' : `${request.method} ${request.url.slice(0, 200)}`;
  return violations.map((violation) => `${name} → ${String(status)}: ${violation}`);
}

/** What stands beside the surfaces is in no document of theirs; but for the operator's paths its errors are theirs. */
function isPage(url: string, status: number): boolean {
  const path = pathOf(url);
  if (/^\/(admin\/api|metrics)(\/|$)/.test(path)) return true;
  return (status < 400 || status === 412) && /^\/(docs|openapi|admin|assets)?(\/|$)/.test(path);
}

function headerMistakes(promised: readonly Promised[], { headers }: Exchange): string[] {
  const documented = promised.flatMap(({ surface, document, response }) =>
    Object.entries(response.headers ?? {}).map(([name, header]) => ({
      surface,
      name: name.toLowerCase(),
      header: resolveHeader(document, header),
    })),
  );
  const unknown = Object.keys(headers)
    .filter((name) => !GENERAL.test(name) && !documented.some((header) => header.name === name))
    .map((name) => `the header ${name} is not documented`);
  const wrong = documented.flatMap(({ surface, name, header }) => {
    const value = headers[name];
    if (value === undefined) return header.required === true ? [`the header ${name} is missing`] : [];
    const mistake = findMistake(surface, header.schema, asValue(value, header.schema));
    return mistake === undefined ? [] : [`the header ${name} ${mistake}`];
  });
  return [...unknown, ...wrong];
}

/** A header is text, also where its schema means a number. */
function asValue(value: unknown, { type }: Schema): unknown {
  const text = String(value);
  return type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

function bodyMistakes(promised: readonly Promised[], exchange: Exchange): readonly string[] {
  const { request, status, headers, body, isWhole } = exchange;
  const [first] = promised;
  if (first === undefined || status === 304 || (request?.method === 'HEAD' && body === '')) return [];
  const { content } = first.response;
  if (content === undefined) return body === '' ? [] : ['a body is not documented'];
  const type = String(headers['content-type']).split(';', 1).join('');
  const media = content[type];
  if (media === undefined) return [`the content type ${type} is not documented`];
  if (type === 'text/event-stream') return findStreamMistakes(first, media, exchange);
  if (!isWhole) return [];
  const value: unknown = type === 'application/json' ? JSON.parse(body) : body;
  const mistake = findMistake(first.surface, unionOf(promised, type, media), value);
  return mistake === undefined ? [] : [`the body${mistake}: ${body.slice(0, 500)}`];
}

const unions = new WeakMap<Response, Schema>();

/** The schema of an answer that keeps all promises: a closed object with the fields of each. */
function unionOf(promised: readonly Promised[], type: string, media: MediaType): Schema {
  const [first] = promised;
  if (first === undefined || promised.length === 1) return media.schema;
  let union = unions.get(first.response);
  if (union === undefined) {
    const schemas = promised.map(({ document, response }) =>
      resolveSchema(document, response.content?.[type]?.schema ?? {}),
    );
    union = schemas.every((schema) => JSON.stringify(schema) === JSON.stringify(schemas[0]))
      ? media.schema
      : merge(promised, schemas);
    unions.set(first.response, union);
  }
  return union;
}

function merge(promised: readonly Promised[], schemas: readonly Schema[]): Schema {
  const properties = new Map<string, unknown>();
  const required = new Set<unknown>();
  schemas.forEach((schema, at) => {
    for (const [name, property] of Object.entries<unknown>({ ...asObject(schema.properties) })) {
      properties.set(name, absolute(promised[at]?.surface, property));
    }
    if (Array.isArray(schema.required)) schema.required.forEach((name) => required.add(name));
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required],
    additionalProperties: false,
  };
}

function asObject(value: unknown): object {
  if (typeof value !== 'object' || value === null) throw new Error('only objects can be merged');
  return value;
}

/** The two documents may give one name to different schemas. */
function absolute(surface: SurfaceName | undefined, property: unknown): unknown {
  const text = JSON.stringify(property);
  return JSON.parse(text.replaceAll('"$ref":"#/components/schemas/', `"$ref":"http://${String(surface)}/`));
}
