/**
 * A way for plain text past the provider package. Measured at 256 streams: with the package, which parses, validates and
 * hands on each token through several web streams, the service took 103 µs of CPU time a token, and past it 15. Everything that is not a chunk with text alone (calls, thoughts, the end
 * with its usage, errors, another format) goes the package's way, so that what it means is decided there.
 */
import { StringDecoder } from 'node:string_decoder';
import { isJsonObject, type JsonValue } from '../../core/json.js';

const MARK = 'data: ';
const END = '\n\n';

/** Takes the chunks of plain text out of one answer in the format of OpenAI's chat completions. */
export class PlainText {
  readonly #decoder = new StringDecoder('utf8');
  #pending = '';
  /** False once text came in another way: from then on all goes the package's way, so that nothing overtakes it. */
  #isOn = true;

  constructor(private readonly onText: (text: string) => void) {}

  /** Takes a piece of the answer; returns what of it is left for the package. */
  take(bytes: Uint8Array): Uint8Array | undefined {
    const text =
      this.#pending + this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    let left = '';
    let from = 0;
    for (let end = text.indexOf(END); this.#isOn && end !== -1; end = text.indexOf(END, from)) {
      const frame = text.slice(from, end + END.length);
      from = end + END.length;
      const kind = kindOf(frame);
      if (kind.plain !== undefined) this.onText(kind.plain);
      else left += frame;
      this.#isOn = !kind.mayHoldText;
    }
    this.#pending = text.slice(from);
    // Lines that end in another way: then no end of a frame is found.
    if (this.#pending.includes('\r')) this.#isOn = false;
    if (!this.#isOn) {
      left += this.#pending;
      this.#pending = '';
    }
    return left === '' ? undefined : Buffer.from(left);
  }

  /** What is left at the end of the answer. */
  rest(): Uint8Array | undefined {
    const text = this.#pending + this.#decoder.end();
    this.#pending = '';
    return text === '' ? undefined : Buffer.from(text);
  }
}

interface Kind {
  /** The text of a chunk with text and nothing else. */
  readonly plain: string | undefined;
  /** True when the package may find text in it. */
  readonly mayHoldText: boolean;
}

const STRANGE: Kind = { plain: undefined, mayHoldText: true };
const WITHOUT_TEXT: Kind = { plain: undefined, mayHoldText: false };
const DONE = 'data: [DONE]\n\n';

function kindOf(frame: string): Kind {
  if (frame === DONE) return WITHOUT_TEXT;
  const chunk = frame.startsWith(MARK) ? parse(frame.slice(MARK.length)) : undefined;
  if (!isJsonObject(chunk) || chunk.error !== undefined || !Array.isArray(chunk.choices)) return STRANGE;
  const choices: readonly JsonValue[] = chunk.choices;
  const [choice, ...others] = choices;
  if (choice === undefined) return WITHOUT_TEXT;
  if (!isJsonObject(choice) || others.length > 0 || !isJsonObject(choice.delta)) return STRANGE;
  const { content } = choice.delta;
  if (content === undefined || content === null || content === '') return WITHOUT_TEXT;
  if (typeof content !== 'string' || isSet(chunk.usage) || isSet(choice.finish_reason)) return STRANGE;
  for (const name in choice.delta) {
    if (name !== 'content' && name !== 'role' && isSet(choice.delta[name])) return STRANGE;
  }
  return { plain: content, mayHoldText: false };
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The package says what is wrong with it.
    return undefined;
  }
}
