import { closeSync, openSync, readSync } from 'node:fs';
import { sizeOf } from './database-files.js';

/** Sizes in the format of a write-ahead log (https://sqlite.org/fileformat2.html, "The Write-Ahead Log"), in bytes. */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The content of a write-ahead log according to its headers. The checksums of its frames are not verified. */
export interface LogScan {
  /**
   * Distinguishes this log from earlier and later ones in the same file. Undefined: its header is damaged.
   */
  readonly salts: string | undefined;
  /** Number of its frames up to the last commit. */
  readonly frames: number;
}

/**
 * Reads the headers of a write-ahead log.
 * @returns undefined when the log is missing or empty
 * @throws Error when it cannot be read
 */
export function scanLog(path: string): LogScan | undefined {
  const size = sizeOf(path);
  if (size < HEADER_BYTES) return undefined;
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    if (!isWhole(header)) return { salts: undefined, frames: 0 };
    const salts = header.toString('hex', 16, 24);
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
    const frame = Buffer.alloc(FRAME_HEADER_BYTES);
    let frames = 0;
    for (let at = HEADER_BYTES, n = 1; at + frameBytes <= size; at += frameBytes, n++) {
      readSync(file, frame, 0, FRAME_HEADER_BYTES, at);
      // Frames with other salts are left over from an earlier log.
      if (frame.toString('hex', 8, 16) === salts && isCommit(frame)) frames = n;
    }
    return { salts, frames };
  } finally {
    closeSync(file);
  }
}

/** Only the last frame of a transaction contains the size of the database after the commit. */
function isCommit(frame: Buffer): boolean {
  return frame.readUInt32BE(4) !== 0;
}

/** Verifies the magic number and the checksum of a log header. */
function isWhole(header: Buffer): boolean {
  const magic = header.readUInt32BE(0);
  if (magic !== 0x377f0682 && magic !== 0x377f0683) return false;
  const read =
    magic === 0x377f0683 ? (at: number) => header.readUInt32BE(at) : (at: number) => header.readUInt32LE(at);
  let [s0, s1] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    s0 = (s0 + read(at) + s1) >>> 0;
    s1 = (s1 + read(at + 4) + s0) >>> 0;
  }
  return s0 === header.readUInt32BE(24) && s1 === header.readUInt32BE(28);
}
