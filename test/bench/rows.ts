import type { Row } from './row.js';
import { latencyRows } from './rows/latency.js';
import { processRows } from './rows/process.js';
import { requestRows } from './rows/requests.js';
import { streamRows } from './rows/streams.js';
import { turnRows } from './rows/turns.js';

/** Everything that is measured, in the order of the table. */
export const rows: readonly Row[] = [
  ...requestRows,
  ...turnRows,
  ...latencyRows,
  ...streamRows,
  ...processRows,
];
