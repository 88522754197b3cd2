import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { RefusedError } from '../../../core/model/refusal.js';

/**
 * Checks that the process can open `count` more file descriptors, by opening and closing them: some parts of Node abort
 * the process when they get none.
 * @throws RefusedError `unavailable` when it cannot
 */
export function requireSpareDescriptors(count: number): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'));
  } catch (cause) {
    const message = 'the service has no file descriptors left for this: try again in a moment';
    throw new RefusedError('unavailable', message, [], 1, { cause });
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
