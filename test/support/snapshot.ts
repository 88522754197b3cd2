import { expect } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';

/** Matches a time in ISO 8601, UTC, with milliseconds. */
export const ISO_TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Matches a message of a snapshot, with exactly its fields. */
export function said(sender: string, content: unknown, more: object = {}): object {
  return { sender, content, timestamp: ISO_TIME, is_streaming: false, tool_result: null, ...more };
}

/** The messages of a snapshot. */
export function messagesOf(json: unknown): JsonObject[] {
  return listOf(isJsonObject(json) ? json.messages : undefined).filter(isJsonObject);
}

/** A JSON value that must be an array. */
export function listOf(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new Error('this is no array');
  const list: readonly unknown[] = json;
  return list;
}

/** The names of an object's fields, in their order. */
export function fieldsOf(json: unknown): readonly string[] {
  if (!isJsonObject(json)) throw new Error('this is no object');
  return Object.keys(json);
}
