import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { describeCurrent } from '../../../src/surfaces/current/openapi/document.js';
import { describeLegacy } from '../../../src/surfaces/legacy/openapi/document.js';
import { describeField } from '../../../src/surfaces/field/openapi/document.js';
import type {
  Document,
  Header,
  Reference,
  Response,
  Schema,
} from '../../../src/surfaces/openapi/document.js';
import type { SurfaceName } from '../../../src/surfaces/index.js';

/** The documents as they are served where both surfaces are exposed. */
const deployment = { version: '1.2.3', surfaces: ['current', 'legacy'] };
const current = describeCurrent(deployment);
export const documents: Readonly<Record<SurfaceName, Document>> = {
  current,
  field: describeField(deployment, current),
  legacy: describeLegacy(deployment),
};

/**
 * Strict: a keyword that is none is a mistake in a document. Types and required names may stand in another part of an
 * `allOf`.
 */
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, strictTuples: false });
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text)));

for (const name of ['current', 'legacy', 'field'] as const) {
  for (const [key, schema] of Object.entries(documents[name].components.schemas)) {
    ajv.addSchema(relocated(name, schema), `http://${name}/${key}`);
  }
}

/** By surface, because documents share schemas, whose references are then those of each. */
const compiled = {
  current: new WeakMap<object, ValidateFunction>(),
  legacy: new WeakMap<object, ValidateFunction>(),
  field: new WeakMap<object, ValidateFunction>(),
} satisfies Record<SurfaceName, unknown>;

/** What is wrong with a value; undefined: nothing. References in the schema are those of the surface's document. */
export function findMistake(
  name: SurfaceName,
  schema: Schema | Reference,
  value: unknown,
): string | undefined {
  const known = compiled[name];
  let validate = known.get(schema);
  if (validate === undefined) known.set(schema, (validate = ajv.compile(relocated(name, schema))));
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: '' });
}

/** The schema with its references made absolute, so that each named schema is compiled once. */
function relocated(name: SurfaceName, schema: Schema | Reference): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/components/schemas/', `"$ref":"http://${name}/`);
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null) throw new Error('a schema must be an object');
  return { ...parsed };
}

/** The schema that a reference names, else the schema itself. */
export function resolveSchema({ components }: Document, schema: Schema): Schema {
  return typeof schema.$ref === 'string' ? take(components.schemas, schema.$ref) : schema;
}

export function resolveResponse({ components }: Document, response: Response | Reference): Response {
  return '$ref' in response ? take(components.responses, response.$ref) : response;
}

export function resolveHeader({ components }: Document, header: Header | Reference): Header {
  return '$ref' in header ? take(components.headers, header.$ref) : header;
}

function take<T>(from: Readonly<Record<string, T>>, reference: string): T {
  const found = from[reference.slice(reference.lastIndexOf('/') + 1)];
  if (found === undefined) throw new Error(`${reference} names nothing`);
  return found;
}
