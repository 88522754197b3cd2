import type { Row } from './row.js';
import { requestRows } from './rows/requests.js';

/** Everything that is measured, in the order of the table. */
export const rows: readonly Row[] = [...requestRows];
