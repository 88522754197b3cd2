import type { Figures } from './figures.js';
import type { ScriptedUpstream } from './upstream.js';

/** What the operator is doing with a start of the server. */
export type Fate = 'running' | 'draining' | 'drained' | 'killed';

/** What every actor knows. */
export interface World {
  readonly seed: string;
  readonly base: string;
  readonly figures: Figures;
  readonly upstream: ScriptedUpstream;
  /** Grows by one with each start of the server. */
  readonly generation: number;
  /** What became of a generation. */
  fateOf(generation: number): Fate;
  /** Resolves once the server is healthy. */
  whenUp(): Promise<void>;
  /** Clients begin nothing new. */
  readonly isEnding: boolean;
}

/** Notes an answer that must not be. Returns true when the status is one of the expected. */
export function judgeStatus(
  world: World,
  what: string,
  answer: { readonly status: number; readonly body?: string },
  options: { readonly since: number; readonly expected: readonly number[] },
): boolean {
  const { status } = answer;
  if (options.expected.includes(status)) return true;
  const detail = `${what} -> ${String(status)} ${(answer.body ?? '').slice(0, 300)}`;
  // The request may have been begun before the drain was, or be answered after it.
  const drained = [options.since, world.generation].some((generation) => {
    const fate = world.fateOf(generation);
    return fate === 'draining' || fate === 'drained';
  });
  const wasRestarted = options.since !== world.generation;
  if (status === 503 && (drained || wasRestarted)) return false;
  world.figures.fault(status >= 500 ? 'status' : 'unexpected', detail);
  return false;
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
