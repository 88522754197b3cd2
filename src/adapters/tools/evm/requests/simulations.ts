import type { SimulatedCall, SimulatedStep, Simulation } from '../../../../core/ports/chains.js';
import { tryCall } from '../lookups/trials.js';
import { readAddress, readBytes } from '../rpc/response-fields.js';
import type { ChainScope } from '../scope.js';
import { isMethodMissing, simulateBatch } from './block-simulation.js';
import { shortened, type PreparedCall } from './simulated-steps.js';

/** How long a chain's nodes are believed to lack `eth_simulateV1`. */
const LACKING_MS = 600_000;

/** Simulates calls in order from one sender on top of the latest block. @throws an error that is not about the calls */
export type Simulator = (
  scope: ChainScope,
  from: string,
  calls: readonly SimulatedCall[],
) => Promise<Simulation>;

/** Makes a simulator, which remembers for a while which chains have no node with `eth_simulateV1`. */
export function createSimulator(): Simulator {
  const lackingUntil = new Map<number, number>();

  return async (scope, from, calls) => {
    const prepared = calls.map((call) => prepare(from, call));
    const { id } = scope.chain;
    if (prepared.length === 0) return { stateful: true, steps: [] };
    if ((lackingUntil.get(id) ?? 0) <= performance.now()) {
      try {
        return { stateful: true, steps: await simulateBatch(scope, prepared) };
      } catch (error) {
        if (!isMethodMissing(error)) throw error;
        lackingUntil.set(id, performance.now() + LACKING_MS);
      }
    }
    return { stateful: false, steps: await tryOneByOne(scope, prepared) };
  };
}

function prepare(from: string, { to, value, data }: SimulatedCall): PreparedCall {
  return { from: readAddress(from), to: readAddress(to), value: BigInt(value), data: readBytes(data) };
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
