import type { RigError } from '../../core/ports/rig.js';
import { classify, faultOfAnswer, type UpstreamAnswer } from './classify.js';
import { rigError } from './upstream-fault.js';
import { retryAfter } from './retry-after.js';

/** What any failure of a model call is for who chats. */
export function asRigError(error: unknown): RigError {
  const { fault, answer } = classify(error);
  return rigError(fault, answer && retryAfter(answer, Date.now()));
}

/** What an answer with a status of failure is for who chats. */
export function refusalError(answer: UpstreamAnswer): RigError {
  return rigError(faultOfAnswer(answer), retryAfter(answer, Date.now()));
}
