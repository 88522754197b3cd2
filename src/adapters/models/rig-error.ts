import type { RigError } from '../../core/ports/rig.js';
import { classify, faultOfAnswer, type UpstreamAnswer } from './classify.js';
import { rigError } from './upstream-fault.js';
import { retryAfter } from './retry-after.js';

/** Converts any failure of a model call to an error for the user. */
export function asRigError(error: unknown): RigError {
  const { fault, answer } = classify(error);
  return rigError(fault, answer && retryAfter(answer, Date.now()));
}

/** Converts a failed HTTP response to an error for the user. */
export function refusalError(answer: UpstreamAnswer): RigError {
  return rigError(faultOfAnswer(answer), retryAfter(answer, Date.now()));
}
