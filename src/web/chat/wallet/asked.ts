import type { PendingRequest } from '../../../client/pending.js';

/** A request as the person sees it. */
export interface Asked {
  readonly sessionId: string;
  readonly request: PendingRequest;
  readonly title: string;
}

/** True for two requests that show the same to the person. */
export function isAlike(one: PendingRequest, other: PendingRequest): boolean {
  return textOf(one) === textOf(other);
}

function textOf(request: PendingRequest): string {
  return JSON.stringify(request, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
