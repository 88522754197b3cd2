import { isObject, parseJson, textOf } from '../../../../client/json.js';
import type { PendingTransaction } from '../../../../client/pending.js';
import type { ViewMessage } from '../../../../client/view/view.js';

/** What the service's simulation of a transaction said. */
export interface Simulation {
  readonly text: string;
  /** The revert reason of the contract; null if it passed or gave none. */
  readonly reason: string | null;
  /** The name of the chain in the service's configuration; null: not known. */
  readonly chain: string | null;
  /** The amount of the native currency with its symbol; null: not known. */
  readonly amount: string | null;
}

const UNKNOWN = { reason: null, chain: null, amount: null } as const;
/** The tool that simulates transactions. */
const TOOL = 'stage_transaction';

/** Returns what the simulation of a transaction said: the last result of the staging tool about this very request. */
export function simulationOf(request: PendingTransaction, messages: readonly ViewMessage[]): Simulation {
  for (const { blocks } of messages.toReversed()) {
    for (const block of blocks.toReversed()) {
      if (block.kind !== 'tool' || block.name !== TOOL || block.result === null) continue;
      const result = parseJson(block.result);
      if (!isObject(result) || result.id !== request.id || !isSame(result, request)) continue;
      const amount = textOf(result, 'value');
      return {
        ...outcomeOf(result.simulation),
        chain: textOf(result, 'chain') || null,
        amount: isAmountOf(request.value, amount) ? amount : null,
      };
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

/** True for an amount with a short symbol whose digits are those of a value in wei. */
function isAmountOf(wei: bigint, amount: string): boolean {
  const [, whole = '', fraction = ''] =
    /^(\d{1,78})(?:\.(\d{1,78}))? [\p{L}\p{N}.$]{1,12}$/u.exec(amount) ?? [];
  const digits = (text: string): string => text.replace(/^0+|0+$/g, '');
  return whole !== '' && digits(whole + fraction) === digits(String(wei));
}

function outcomeOf(simulation: unknown): Pick<Simulation, 'text' | 'reason'> {
  if (typeof simulation !== 'object' || simulation === null) return { text: 'not known here', reason: null };
  const field = (name: string): unknown => Reflect.get(simulation, name);
  const gas = String(field('gas_used'));
  const spent = /^\d{1,20}$/.test(gas) ? `, ${gas} gas` : '';
  if (field('success') === true) return { text: `passed${spent}`, reason: null };
  const reason = field('revert_reason');
  return { text: 'failed', reason: typeof reason === 'string' && reason !== '' ? reason : null };
}
