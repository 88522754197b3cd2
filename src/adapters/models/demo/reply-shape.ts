import type { JsonObject } from '../../../core/model/json.js';

/** What the demo says, and the tools that it calls. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: JsonObject }[];
}
