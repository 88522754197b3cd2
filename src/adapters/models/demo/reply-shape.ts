import type { JsonObject } from '../../../core/model/json.js';

/** The demo's text and tool calls. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: JsonObject }[];
}
