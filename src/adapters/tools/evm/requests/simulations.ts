import type { Address } from 'viem';
import type { SimulatedCall, SimulatedStep, Simulation } from '../../../../core/ports/chains.js';
import { tryCall } from '../lookups/trials.js';
import { readBytes } from '../rpc/response-fields.js';
import type { ChainScope } from '../scope.js';
import { isMethodMissing, simulateBatch } from './block-simulation.js';
import { failedStep, prepareCall, shortened, type PreparedCall } from './simulated-steps.js';

/** How long a chain's nodes are believed to lack `eth_simulateV1`. */
const LACKING_MS = 600_000;

/**
 * Simulates calls in order from one sender on top of the latest block. A call with data to an address without a contract
 * counts as failed, although a chain accepts it: the caller expects the contract of another chain.
 * @throws an error that is not about the calls
 */
export type Simulator = (
  scope: ChainScope,
  from: string,
  calls: readonly SimulatedCall[],
) => Promise<Simulation>;

/** Makes a simulator, which remembers for a while which chains have no node with `eth_simulateV1`. */
export function createSimulator(): Simulator {
  const lackingUntil = new Map<number, number>();

  return async (scope, from, calls) => {
    const prepared = calls.map((call) => prepareCall(from, call));
    const { id } = scope.chain;
    if (prepared.length === 0) return { stateful: true, steps: [] };
    if ((lackingUntil.get(id) ?? 0) <= performance.now()) {
      try {
        const steps = await simulateBatch(scope, prepared);
        return { stateful: true, steps: await withoutContracts(scope, prepared, steps, true) };
      } catch (error) {
        if (!isMethodMissing(error)) throw error;
        lackingUntil.set(id, performance.now() + LACKING_MS);
      }
    }
    const steps = await tryOneByOne(scope, prepared);
    return { stateful: false, steps: await withoutContracts(scope, prepared, steps, false) };
  };
}

/**
 * Fails the calls with data that no contract received.
 * @param stateful true: a call that reached a contract may have created those of the calls after it, which are not
 * judged then
 */
async function withoutContracts(
  { client, chain }: ChainScope,
  calls: readonly PreparedCall[],
  steps: readonly SimulatedStep[],
  stateful: boolean,
): Promise<readonly SimulatedStep[]> {
  // An address without code returns nothing, so that other calls need no request.
  const suspects = calls.filter(({ data }, at) => data !== '0x' && steps[at]?.result === '0x');
  const empty = new Set<Address>();
  for (const to of new Set(suspects.map((call) => call.to))) {
    const code: unknown = await client.request({ method: 'eth_getCode', params: [to, 'latest'] });
    if (readBytes(code) === '0x') empty.add(to);
  }
  if (empty.size === 0) return steps;
  const reached = calls.findIndex(({ to, data }) => data !== '0x' && !empty.has(to));
  const judged = stateful && reached !== -1 ? reached : calls.length;
  return steps.map((step, at) => {
    const call = calls[at];
    if (at >= judged || call === undefined || !suspects.includes(call) || !empty.has(call.to)) return step;
    return failedStep(`There is no contract at ${call.to} on ${chain.name}.`, step.gasUsed);
  });
}

async function tryOneByOne(
  scope: ChainScope,
  calls: readonly PreparedCall[],
): Promise<readonly SimulatedStep[]> {
  const steps: SimulatedStep[] = [];
  for (const { from, ...call } of calls) {
    const trial = await tryCall(scope, { account: from, ...call });
    steps.push(
      trial.success
        ? {
            success: true,
            result: shortened(trial.returned ?? '0x'),
            revertReason: null,
            gasUsed: String(trial.gas),
          }
        : { success: false, result: null, revertReason: trial.reason, gasUsed: null },
    );
  }
  return steps;
}
