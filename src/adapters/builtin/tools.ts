import type { Clock, Tool } from '../../core/ports/ports.js';
import { createCalculate } from './calculate.js';
import { createGetTime } from './get-time.js';

/** The tools that need no configuration: `get_time` and `calculate`. */
export function builtinTools(clock: Pick<Clock, 'now'>): readonly Tool[] {
  return [createGetTime(clock), createCalculate()];
}
