import { sharedMicros } from '../machine.js';

/** Where the upstream's tokens are in a body: `t` and the microsecond at which each was sent. */
const TOKEN = /t(\d{16})/g;
const MARK = 't000'.charCodeAt(0);

/** Counts the tokens of a streamed body, cheaply. One that is cut in two by the network is counted too. */
export class TokenCount {
  count = 0;
  /** How far a token at the end of the last piece had come. */
  #matched = 0;

  readonly take = (chunk: Buffer): void => {
    // A token is a `t` and digits; sixteen of them make it whole.
    for (let at = chunk.indexOf(MARK, 0); at !== -1 || this.#matched > 0; at = chunk.indexOf(MARK, at)) {
      if (this.#matched > 0) at = 0;
      else {
        at++;
        this.#matched = 1;
      }
      while (at < chunk.length && isDigit(chunk[at]) && this.#matched < 17) {
        at++;
        this.#matched++;
      }
      if (this.#matched === 17) this.count++;
      if (at === chunk.length && this.#matched < 17) return;
      this.#matched = 0;
    }
  };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Notes how long each token of one answer was on its way, in milliseconds. */
export class TokenLatencies {
  /** From the moment the answer was asked for to the first token; undefined before it came. */
  first: number | undefined;
  readonly #askedAt = sharedMicros();

  constructor(private readonly onLatency: (milliseconds: number) => void) {}

  readonly take = (chunk: Buffer): void => {
    const now = sharedMicros();
    for (const [, sent] of chunk.toString('latin1').matchAll(TOKEN)) {
      this.first ??= (now - this.#askedAt) / 1000;
      this.onLatency((now - Number(sent)) / 1000);
    }
  };
}
