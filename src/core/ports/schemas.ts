import type { JsonObject, JsonValue } from '../model/json.js';
import type { Problem } from '../model/refusal.js';

/** Checks values against JSON Schemas. */
export interface Schemas {
  /** Returns a check that lists what is wrong with a value; empty: it fits. @throws Error when the schema itself is wrong */
  compile(schema: JsonObject): (value: JsonValue) => readonly Problem[];
}
