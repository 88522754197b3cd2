import type { Progress } from '../request-desk.js';
import type { KeptRequest } from '../records.js';

/**
 * Where a request is: `open` no wallet was asked · `asking` this tab waits for the wallet · `elsewhere` another tab does
 * · `unclear` a wallet was asked and its response was lost · `kept` the outcome is known here, not yet to the service ·
 * `reported`.
 */
export type Phase = 'open' | 'asking' | 'elsewhere' | 'unclear' | 'kept' | 'reported';

/** @param kept what this browser keeps of the request; undefined: nothing */
export function phaseOf(
  kept: KeptRequest | undefined,
  progress: Progress | undefined,
  isElsewhere: boolean,
): Phase {
  if (progress?.act === 'asking') return 'asking';
  if (kept === undefined) return 'open';
  if (kept.outcome !== null) return kept.reportedAt === null ? 'kept' : 'reported';
  return isElsewhere ? 'elsewhere' : 'unclear';
}
