import type { RigError, RigRequest } from '../../core/ports/rig.js';
import { classify, faultOfAnswer, type UpstreamAnswer } from './classify.js';
import type { Endpoint } from './endpoint.js';
import { secretsOf } from './provider-words.js';
import { rigError } from './upstream-fault.js';
import { retryAfter } from './retry-after.js';

/** A model call that failed. */
export interface FailedCall {
  readonly endpoint: Endpoint;
  readonly request: RigRequest;
}

/** Converts any failure of a model call to an error for the user. */
export function asRigError(error: unknown, { endpoint, request }: FailedCall): RigError {
  const { fault, answer } = classify(error, secretsOf(endpoint, request));
  const keyOf = request.apiKey === undefined ? undefined : endpoint.provider;
  return rigError(fault, { keyOf, retryAfterMs: answer && retryAfter(answer, Date.now()) });
}

/** Converts a failed HTTP response to an error for the user. */
export function refusalError(answer: UpstreamAnswer, { endpoint, request }: FailedCall): RigError {
  const keyOf = request.apiKey === undefined ? undefined : endpoint.provider;
  const fault = faultOfAnswer(answer, secretsOf(endpoint, request));
  return rigError(fault, { keyOf, retryAfterMs: retryAfter(answer, Date.now()) });
}
