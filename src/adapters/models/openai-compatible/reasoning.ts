import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';

/** The limits of what is kept of a response: characters, items of `reasoning_details`, levels of an item. */
const MAX_LENGTH = 1_048_576;
const MAX_DETAILS = 1_000;
const MAX_DEPTH = 16;

/** The fields of a delta with text that the model thought. */
const TEXTS = ['reasoning_content', 'reasoning'] as const;
/** The fields of an item of `reasoning_details` that arrive in pieces. */
const PIECES = ['text', 'summary'] as const;
/** The fields of an item that do not grow with its pieces, besides the former, which are counted by themselves. */
const REPLACED = new Set<string>([...PIECES, 'type', 'index', 'format', 'id', 'signature']);

/**
 * Collects the reasoning of a streamed response in the fields in which it arrived. Reasoning beyond the limits is dropped
 * as a whole, because part of it is of no use to the model.
 */
export class Reasoning {
  readonly #texts: Partial<Record<(typeof TEXTS)[number], string>> = {};
  #details: JsonObject[] = [];
  #length = 0;

  /** True if a delta has a field that may hold reasoning. */
  static isIn({ reasoning_content, reasoning, reasoning_details }: JsonObject): boolean {
    return reasoning_content !== undefined || reasoning !== undefined || reasoning_details !== undefined;
  }

  take(delta: JsonObject): void {
    if (this.#isTooLong) return;
    for (const field of TEXTS) {
      const text = delta[field];
      if (typeof text !== 'string' || text === '') continue;
      this.#length += text.length;
      this.#texts[field] = (this.#texts[field] ?? '') + text;
    }
    if (Array.isArray(delta.reasoning_details)) this.#takeDetails(delta.reasoning_details);
  }

  /**
   * Returns the fields of the message. `reasoning` repeats the text of the other fields, so it is only returned without
   * them.
   */
  end(): JsonObject | undefined {
    if (this.#isTooLong) return undefined;
    const { reasoning, ...content } = this.#texts;
    const fields = {
      ...content,
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
    };
    if (Object.keys(fields).length > 0) return fields;
    return reasoning === undefined ? undefined : { reasoning };
  }

  get #isTooLong(): boolean {
    return this.#length > MAX_LENGTH || this.#details.length > MAX_DETAILS;
  }

  #takeDetails(details: readonly JsonValue[]): void {
    for (const detail of details.slice(0, MAX_DETAILS + 1)) {
      if (!isJsonObject(detail) || isDeeperThan(detail, MAX_DEPTH)) continue;
      const last = this.#details.at(-1);
      const isPiece = last !== undefined && continues(last, detail);
      this.#length += isPiece ? lengthOfPiece(detail) : JSON.stringify(detail).length;
      if (this.#isTooLong) return;
      if (isPiece) this.#details.splice(-1, 1, joined(last, detail));
      else this.#details.push(detail);
    }
  }
}

/** True for a further piece of the same block. Encrypted blocks always arrive as a whole. */
function continues(last: JsonObject, next: JsonObject): boolean {
  const isText = next.type === 'reasoning.text' || next.type === 'reasoning.summary';
  return isText && last.type === next.type && last.index === next.index;
}

/** The length of what a piece adds to the block: `REPLACED` fields take the place of those of earlier pieces. */
function lengthOfPiece(piece: JsonObject): number {
  const others = Object.entries(piece).filter(([field]) => !REPLACED.has(field));
  const length = others.length === 0 ? 0 : JSON.stringify(others).length;
  return PIECES.reduce((sum, field) => sum + textOf(piece, field).length, length);
}

function textOf(detail: JsonObject, field: string): string {
  const text = detail[field];
  return typeof text === 'string' ? text : '';
}

function joined(last: JsonObject, next: JsonObject): JsonObject {
  const known = Object.entries(next).filter(([, value]) => value !== null);
  // Not `join`, which would copy all earlier pieces for each one.
  const texts = PIECES.flatMap((field) => {
    const text = textOf(last, field) + textOf(next, field);
    return text === '' ? [] : [[field, text] as const];
  });
  return { ...last, ...Object.fromEntries([...known, ...texts]) };
}
