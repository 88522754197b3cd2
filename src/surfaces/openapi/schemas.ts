import type { Reference, Schema } from './document.js';

/** Builders of schemas. Objects are closed by default: an unknown field is an error. */

/** Returns a reference to a named schema of the document. */
export function named(name: string): Reference & Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns a closed object whose fields are required, except for the optional ones. */
export function record(
  properties: Readonly<Record<string, Schema>>,
  { optional = [], ...rest }: { readonly optional?: readonly string[]; readonly description?: string } = {},
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', ...rest, properties, required, additionalProperties: false };
}

/** Returns an object with arbitrary names and values of one schema. */
export function map(value: Schema | boolean, description?: string): Schema {
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    additionalProperties: value,
  };
}

export function list(items: Schema, description?: string): Schema {
  return { type: 'array', ...(description === undefined ? {} : { description }), items };
}

export function text(description?: string): Schema {
  return { type: 'string', ...(description === undefined ? {} : { description }) };
}

/** Returns an enumeration of words. */
export function words(values: readonly string[], description?: string): Schema {
  return { type: 'string', ...(description === undefined ? {} : { description }), enum: values };
}

export function flag(description?: string): Schema {
  return { type: 'boolean', ...(description === undefined ? {} : { description }) };
}

/** Returns an integer of at least `minimum`. */
export function integer(minimum: number, description?: string): Schema {
  return { type: 'integer', minimum, ...(description === undefined ? {} : { description }) };
}

/** Returns a UUID in the spelling of responses. */
export function uuid(description: string): Schema {
  return {
    type: 'string',
    format: 'uuid',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    description,
  };
}

export const timestamp: Schema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  description: 'ISO 8601 in UTC.',
};

export const SESSION_EXAMPLE = '5f0c2a51-0b7e-4f6c-9a37-3f2b8c1d4e90';
export const WALLET_EXAMPLE = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
