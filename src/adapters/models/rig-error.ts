import type { RigError } from '../../core/ports/rig.js';
import { classify, faultOfAnswer, type UpstreamAnswer } from './classify.js';
import { rigError } from './upstream-fault.js';
import { retryAfter } from './retry-after.js';

/**
 * Converts any failure of a model call to an error for the user.
 * @param keyOf the provider, if the request carried the client's own key
 */
export function asRigError(error: unknown, keyOf?: string): RigError {
  const { fault, answer } = classify(error);
  return rigError(fault, { keyOf, retryAfterMs: answer && retryAfter(answer, Date.now()) });
}

/**
 * Converts a failed HTTP response to an error for the user.
 * @param keyOf the provider, if the request carried the client's own key
 */
export function refusalError(answer: UpstreamAnswer, keyOf?: string): RigError {
  return rigError(faultOfAnswer(answer), { keyOf, retryAfterMs: retryAfter(answer, Date.now()) });
}
