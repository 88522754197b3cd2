/** The request and the response of `POST /api/simulate`. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/model/json.js';
import { RefusedError, type Problem } from '../../core/model/refusal.js';
import type { SimulationReport, SimulationRequest } from '../../core/model/simulation.js';
import { optionalText, optionalValue, requiredItems, type ReadPart } from '../../http/validation/params.js';

/** The most transactions of one batch. */
const MAX_TRANSACTIONS = 32;
/** The most characters of an address, a name or a token symbol: a name in DNS has at most 255 (RFC 1035). */
const MAX_ADDRESS = 255;
const MAX_LABEL = 200;
/** The most calldata of one transaction, in bytes. */
const MAX_DATA_BYTES = 131_072;
/** A value has 256 bits. */
const MAX_VALUE = 2n ** 256n - 1n;

/** A transaction as it was given, with its own chain. */
type GivenTransaction = SimulationRequest['transactions'][number] & { readonly chainId: number | undefined };

const isAddress = (text: string): boolean => text.trim() !== '' && text.length <= MAX_ADDRESS;
const expectedChain = 'a chain id: a positive integer, as a number, or as text in decimal or 0x digits';

/** The parameters of the request. */
export function simulationParams(place: 'query' | 'body') {
  return {
    transactions: requiredItems(place, 'transactions', 'the transactions to simulate, in order', {
      max: MAX_TRANSACTIONS,
      read: readTransaction,
    }),
    from: optionalText(place, 'from', (chain) =>
      chain
        .custom(isAddress)
        .withMessage(`from must be an address of 1 to ${String(MAX_ADDRESS)} characters`),
    ),
    chainId: optionalValue(place, 'chain_id', { expected: expectedChain, read: chainIdOf }),
  };
}

/**
 * Returns the request for the core.
 * @throws RefusedError `invalid` when the transactions name several chains
 */
export function simulationRequest(
  sessionId: string,
  {
    transactions: given,
    from,
    chainId: named,
  }: {
    readonly transactions: readonly GivenTransaction[];
    readonly from: string | undefined;
    readonly chainId: number | undefined;
  },
): SimulationRequest {
  const chainId = named ?? given.find((transaction) => transaction.chainId !== undefined)?.chainId;
  const problems = given.flatMap((transaction, index): Problem[] => {
    if (transaction.chainId === undefined || transaction.chainId === chainId) return [];
    const path = `transactions[${String(index)}].chain_id`;
    return [{ path, message: `${path} must be the chain of the whole batch: ${String(chainId)}` }];
  });
  const [first] = problems;
  if (first !== undefined) throw new RefusedError('invalid', first.message, problems);
  const transactions = given.map(({ to, value, data, label }) => ({ to, value, data, label }));
  return { sessionId, transactions, from, chainId };
}

/** Returns the body of the response. Amounts are exact decimal strings; a gas figure that is not known is absent. */
export function simulationReport(report: SimulationReport): JsonObject {
  const { succeeded, stateful, from, chain, totalGas, fee, steps } = report;
  return {
    result: {
      ...{ batch_success: succeeded, stateful, from, network: chain.name },
      ...(totalGas !== null && { total_gas: Number(totalGas) }),
      ...(fee !== null && {
        fee: { recipient: fee.recipient, amount_wei: fee.amountWei, token: 'native' },
      }),
      steps: steps.map(stepOf),
    },
  };
}

function stepOf(step: SimulationReport['steps'][number], index: number): JsonObject {
  const { label, success, result, revertReason, gasUsed, to, value, valueInUnits, data } = step;
  return {
    ...{ step: index + 1, label, success },
    ...(result !== null && { result }),
    ...(revertReason !== null && { revert_reason: revertReason }),
    ...(gasUsed !== null && { gas_used: Number(gasUsed) }),
    tx: { to, value_wei: value, value_eth: valueInUnits, data },
  };
}

function readTransaction(item: JsonValue, path: string): ReadPart<GivenTransaction> {
  if (!isJsonObject(item)) return { problems: [{ path, message: `${path} must be an object` }] };
  const problems: Problem[] = [];
  const refuse = (name: string, expected: string): undefined => {
    problems.push({ path: `${path}.${name}`, message: `${path}.${name} must be ${expected}` });
  };
  const to = typeof item.to === 'string' && isAddress(item.to) ? item.to : undefined;
  if (to === undefined) refuse('to', `an address of 1 to ${String(MAX_ADDRESS)} characters`);
  const value = weiOf(item.value);
  if (value === undefined) {
    refuse('value', 'wei of at most 256 bits, as text in decimal or 0x digits, or as an integer below 2^53');
  }
  const data = dataOf(item.data);
  if (data === undefined) refuse('data', `0x and hex digits of at most ${String(MAX_DATA_BYTES)} bytes`);
  const label = item.label ?? undefined;
  const isLabel = label === undefined || (typeof label === 'string' && Array.from(label).length <= MAX_LABEL);
  if (!isLabel) refuse('label', `text of at most ${String(MAX_LABEL)} characters`);
  const chainId = chainIdOf(item.chain_id);
  const isAbsent = item.chain_id === undefined || item.chain_id === null;
  if (chainId === undefined && !isAbsent) refuse('chain_id', expectedChain);
  if (to === undefined || value === undefined || data === undefined || !isLabel || problems.length > 0) {
    return { problems };
  }
  return { value: { to, value, data, label, chainId } };
}

/** Returns an amount in wei as a decimal string; absent: 0. Undefined: it is none. */
function weiOf(given: JsonValue | undefined): string | undefined {
  if (given === undefined || given === null) return '0';
  if (typeof given === 'number') {
    return Number.isSafeInteger(given) && given >= 0 ? String(given) : undefined;
  }
  if (typeof given !== 'string' || !/^(?:\d{1,78}|0x[\da-f]{1,64})$/i.test(given)) return undefined;
  const wei = BigInt(given.toLowerCase());
  return wei <= MAX_VALUE ? String(wei) : undefined;
}

/** Returns calldata in lower case; absent: none. Undefined: it is no calldata. */
function dataOf(given: JsonValue | undefined): string | undefined {
  if (given === undefined || given === null) return '0x';
  if (typeof given !== 'string' || given.length > 2 + 2 * MAX_DATA_BYTES) return undefined;
  return /^0x(?:[\da-f]{2})*$/i.test(given) ? given.toLowerCase() : undefined;
}

function chainIdOf(given: unknown): number | undefined {
  const isDigits = typeof given === 'string' && /^(?:\d{1,16}|0x[\da-f]{1,14})$/i.test(given);
  const id = isDigits ? Number(given) : given;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 1 ? id : undefined;
}
