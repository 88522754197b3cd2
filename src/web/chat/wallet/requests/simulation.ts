import { isObject, parseJson, textOf } from '../../../../client/json.js';
import type { PendingTransaction } from '../../../../client/pending.js';
import type { ViewMessage } from '../../../../client/view/view.js';
import { visibleLine } from '../visible.js';

/** What the service's simulation of a transaction said. */
export interface Simulation {
  readonly text: string;
  /** The name of the chain in the service's configuration; null: not known. */
  readonly chain: string | null;
  /** The amount of the native currency with its symbol; null: not known. */
  readonly amount: string | null;
}

const UNKNOWN = { chain: null, amount: null } as const;
/** The tool that simulates transactions. */
const TOOL = 'stage_transaction';

/** Returns what the simulation of a transaction said: the last result of the staging tool about this very request. */
export function simulationOf(request: PendingTransaction, messages: readonly ViewMessage[]): Simulation {
  for (const { blocks } of messages.toReversed()) {
    for (const block of blocks.toReversed()) {
      if (block.kind !== 'tool' || block.name !== TOOL || block.result === null) continue;
      const result = parseJson(block.result);
      if (!isObject(result) || result.id !== request.id || !isSame(result, request)) continue;
      const [chain, amount] = ['chain', 'value'].map(
        (name) => visibleLine(textOf(result, name), 120) || null,
      );
      return { text: wordsOf(result.simulation), chain: chain ?? null, amount: amount ?? null };
    }
  }
  return { text: request.gas === null ? 'not known here' : `passed, at most ${request.gas} gas`, ...UNKNOWN };
}

function isSame(
  result: Readonly<Record<string, unknown>>,
  { to, chainId, value }: PendingTransaction,
): boolean {
  const text = (name: string): string => String(result[name]).toLowerCase();
  return (
    text('to') === to.toLowerCase() &&
    text('chain_id') === String(chainId) &&
    text('value_wei') === String(value)
  );
}

function wordsOf(simulation: unknown): string {
  if (typeof simulation !== 'object' || simulation === null) return 'not known here';
  const field = (name: string): unknown => Reflect.get(simulation, name);
  const gas = field('gas_used');
  const spent = typeof gas === 'string' || typeof gas === 'number' ? `, ${String(gas)} gas` : '';
  if (field('success') === true) return `passed${spent}`;
  const reason = field('revert_reason');
  return `failed${typeof reason === 'string' ? `: ${visibleLine(reason, 200)}` : ''}`;
}
