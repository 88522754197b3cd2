const NEWLINE = 10;
/** Bytes that are kept of each end of a line that is too long. */
const END_BYTES = 512;

/** Splits a byte stream into lines of text and buffers at most `limit` bytes of a line, plus the chunk in hand. */
export class LineReader {
  #parts: Buffer[] = [];
  #size = 0;
  #skipped: { readonly head: string; tail: Buffer } | null = null;

  /** @param onLong receives the beginning and the end of a line of more than `limit` bytes; the rest is discarded */
  constructor(
    private readonly limit: number,
    private readonly onLine: (line: string) => void,
    private readonly onLong: (head: string, tail: string) => void,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Buffer): void {
    if (this.#skipped !== null) {
      this.#skipped.tail = lastOf([this.#skipped.tail, part]);
      return;
    }
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= this.limit) return;
    const head = Buffer.concat(this.#parts).toString('latin1', 0, END_BYTES);
    this.#skipped = { head, tail: lastOf(this.#parts) };
    this.#parts = [];
    this.#size = 0;
  }

  #finish(): void {
    const skipped = this.#skipped;
    const line = Buffer.concat(this.#parts).toString();
    this.#skipped = null;
    this.#parts = [];
    this.#size = 0;
    if (skipped !== null) this.onLong(skipped.head, skipped.tail.toString('latin1'));
    else if (line.trim() !== '') this.onLine(line);
  }
}

/** Copies the last bytes, so that the original buffers can be freed. */
function lastOf(parts: readonly Buffer[]): Buffer {
  return Buffer.from(Buffer.concat(parts.slice(-2)).subarray(-END_BYTES));
}
