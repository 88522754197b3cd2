import type { Clock } from '../../../core/ports/clock.js';
import type { Tool } from '../../../core/ports/tool.js';
import { createCalculate } from './calculate.js';
import { createGetTime } from './get-time.js';

/** Creates the tools that need no configuration: `get_time` and `calculate`. */
export function builtinTools(clock: Pick<Clock, 'now'>): readonly Tool[] {
  return [createGetTime(clock), createCalculate()];
}
