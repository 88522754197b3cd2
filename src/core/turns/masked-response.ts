import { isJsonObject } from '../model/json.js';
import type { ToolCall } from '../model/message.js';
import type { Rig, RigPart, RigRequest } from '../ports/rig.js';
import { Scrubber } from '../tools/redaction.js';

/** Stands for a client's key in what a provider returns. */
const MASK = '$PROVIDER_KEY';

/**
 * Sends a model request. Masks the client's own key, if the request has one, in the response: a provider may quote it,
 * and a response is stored, shown and sent to other providers.
 */
export function respond(
  rig: Rig,
  request: RigRequest,
  signal: AbortSignal,
  take: (part: RigPart) => void,
): Promise<void> {
  const { apiKey } = request;
  if (apiKey === undefined) return rig.respond(request, signal, take);
  const text = new TextMask(apiKey);
  const scrubber = new Scrubber([{ value: apiKey, mask: MASK }]);
  const takeText = (clean: string): void => {
    if (clean !== '') take({ type: 'text', text: clean });
  };
  return rig.respond(request, signal, (part) => {
    if (part.type === 'text') {
      takeText(text.add(part.text));
      return;
    }
    takeText(text.end());
    if (part.type === 'end') take(part);
    else take({ type: 'tool_call', call: maskCall(part.call, scrubber) });
  });
}

function maskCall({ callId, name, args, ...more }: ToolCall, scrubber: Scrubber): ToolCall {
  const clean = scrubber.value(args);
  return {
    ...{ callId: scrubber.text(callId), name: scrubber.text(name) },
    args: isJsonObject(clean) ? clean : {},
    ...more,
  };
}

/**
 * Masks a key in text that arrives in pieces. Holds back the end of the text while it may be the beginning of the key
 * (the matching of Knuth, Morris and Pratt): the text held back always equals the first `#matched` characters of the key.
 */
class TextMask {
  /** By position: the length of the longest proper prefix of the key that ends there. */
  readonly #borders: readonly number[];
  #matched = 0;

  constructor(private readonly key: string) {
    this.#borders = bordersOf(key);
  }

  /** Returns the text that can be shown now. */
  add(piece: string): string {
    let clean = '';
    for (let at = 0; at < piece.length; at++) {
      const unit = piece.charAt(at);
      while (this.#matched > 0 && this.key[this.#matched] !== unit) {
        const shorter = this.#borders[this.#matched - 1] ?? 0;
        clean += this.key.slice(0, this.#matched - shorter);
        this.#matched = shorter;
      }
      if (this.key[this.#matched] !== unit) clean += unit;
      else if (++this.#matched === this.key.length) {
        clean += MASK;
        this.#matched = 0;
      }
    }
    return clean;
  }

  /** Returns the text held back. */
  end(): string {
    const held = this.key.slice(0, this.#matched);
    this.#matched = 0;
    return held;
  }
}

function bordersOf(key: string): readonly number[] {
  const borders = [0];
  let length = 0;
  for (let at = 1; at < key.length; at++) {
    while (length > 0 && key[at] !== key[length]) length = borders[length - 1] ?? 0;
    if (key[at] === key[length]) length++;
    borders.push(length);
  }
  return borders;
}
