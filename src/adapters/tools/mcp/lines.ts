const NEWLINE = 10;
/** Bytes that are kept of each end of a line that is too long. */
const END_BYTES = 512;
const EMPTY = Buffer.alloc(0);

/** Splits a byte stream into lines of text. Buffers at most twice `limit` bytes, regardless of the chunk sizes. */
export class LineReader {
  /** A buffer whose first `#size` bytes are the current line so far. */
  #line = EMPTY;
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
    this.#append(part);
    if (this.#size <= this.limit) return;
    const line = this.#line.subarray(0, this.#size);
    this.#skipped = { head: line.toString('latin1', 0, END_BYTES), tail: lastOf([line]) };
    this.#clear();
  }

  /** Appends to the buffer, which doubles when it is full, so that many small parts take linear time. */
  #append(part: Buffer): void {
    const size = this.#size + part.length;
    if (size > this.#line.length) {
      const longer = Buffer.allocUnsafe(Math.max(size, 2 * this.#line.length));
      this.#line.copy(longer, 0, 0, this.#size);
      this.#line = longer;
    }
    part.copy(this.#line, this.#size);
    this.#size = size;
  }

  #clear(): void {
    this.#line = EMPTY;
    this.#size = 0;
  }

  #finish(): void {
    const skipped = this.#skipped;
    const line = this.#line.toString('utf8', 0, this.#size);
    this.#skipped = null;
    this.#clear();
    if (skipped !== null) this.onLong(skipped.head, skipped.tail.toString('latin1'));
    else if (line.trim() !== '') this.onLine(line);
  }
}

/** Copies the last bytes, so that the original buffers can be freed. */
function lastOf(parts: readonly Buffer[]): Buffer {
  return Buffer.from(Buffer.concat(parts).subarray(-END_BYTES));
}
