import { formatUnits, parseWei } from '../model/amount.js';
import { untilAborted } from '../model/abort.js';
import { RefusedError } from '../model/refusal.js';
import { isEvmAddress } from '../model/session.js';
import type { CoreSettings } from '../model/settings.js';
import type { SimulationReport, SimulationRequest } from '../model/simulation.js';
import { flatUserState } from '../model/user-state.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { ChainInfo, Chains, SimulatedCall, Simulation } from '../ports/chains.js';
import type { Clock } from '../ports/clock.js';
import type { SessionCache } from '../sessions/session-cache.js';
import { actingWallet } from '../tools/tool-context.js';

/** The most transactions of one batch. */
const MAX_BATCH = 32;

/** The dependencies of `Simulations`. */
export interface SimulationParts {
  readonly chains: Chains;
  readonly clock: Clock;
  readonly threads: SessionCache;
  readonly walletOwners: WalletOwners;
  readonly settings: Pick<CoreSettings, 'toolTimeoutMs'>;
}

/** Simulates batches of transactions for clients. Stores nothing. */
export class Simulations {
  constructor(private readonly parts: SimulationParts) {}

  /**
   * @throws RefusedError `invalid` for a chain that is not configured, an unusable address or no sender; `unavailable`
   * when the chain does not respond
   */
  async run(request: SimulationRequest): Promise<SimulationReport> {
    const { clock, settings } = this.parts;
    const timeout = new AbortController();
    const cancelTimeout = clock.after(settings.toolTimeoutMs, () => {
      timeout.abort(unavailable('The chain did not respond in time'));
    });
    try {
      return await untilAborted(this.#run(request, timeout.signal), timeout.signal);
    } finally {
      cancelTimeout();
    }
  }

  async #run(request: SimulationRequest, signal: AbortSignal): Promise<SimulationReport> {
    const { chains, threads, walletOwners } = this.parts;
    const { transactions } = request;
    if (transactions.length < 1 || transactions.length > MAX_BATCH) {
      throw invalid('transactions', `transactions must have 1 to ${String(MAX_BATCH)} entries`);
    }
    const session = await threads.findSession(request.sessionId);
    const chain = this.#chain(request.chainId, flatUserState(session?.userState ?? null).chainId);
    const wallet = session === undefined ? null : actingWallet(walletOwners, session);
    const from = await this.#sender(chain, request.from, wallet, signal);
    const calls: SimulatedCall[] = [];
    for (const [index, { to, value, data }] of transactions.entries()) {
      const path = `transactions[${String(index)}].to`;
      calls.push({ to: await this.#address(chain, to, path, signal), value, data });
    }
    const simulation = await chains.simulate(chain.id, from, calls, signal).catch((cause: unknown) => {
      throw unavailable(wordsOf(cause, 'The chain did not respond'), cause);
    });
    if (simulation.steps.length !== calls.length) throw unavailable('The chain gave no result');
    return reportOf({ chain, from, calls, simulation, transactions });
  }

  /** The given chain must be configured. The connected one counts only if it is. */
  #chain(given: number | undefined, connected: number | null): ChainInfo {
    const configured = this.parts.chains.list();
    const wanted = configured.find(({ id }) => id === (given ?? connected));
    const chain = wanted ?? (given === undefined ? configured[0] : undefined);
    if (chain !== undefined) return chain;
    const known = configured.map(({ id }) => String(id)).join(', ');
    const words = known === '' ? 'no chain is' : `only ${known} are`;
    throw invalid('chain_id', `chain_id must be a configured chain: ${words} configured`);
  }

  async #sender(
    chain: ChainInfo,
    given: string | undefined,
    wallet: string | null,
    signal: AbortSignal,
  ): Promise<string> {
    if (given !== undefined) return this.#address(chain, given, 'from', signal);
    if (isEvmAddress(wallet)) return wallet.toLowerCase();
    throw invalid('from', 'from must be given, because the session has no wallet');
  }

  async #address(chain: ChainInfo, text: string, path: string, signal: AbortSignal): Promise<string> {
    if (isEvmAddress(text.trim())) return text.trim().toLowerCase();
    return this.parts.chains.resolveAddress(chain.id, text, signal).catch((cause: unknown) => {
      throw invalid(path, `${path}: ${wordsOf(cause, 'is not an address')}`, cause);
    });
  }
}

function reportOf({
  chain,
  from,
  calls,
  simulation,
  transactions,
}: {
  readonly chain: ChainInfo;
  readonly from: string;
  readonly calls: readonly SimulatedCall[];
  readonly simulation: Simulation;
  readonly transactions: SimulationRequest['transactions'];
}): SimulationReport {
  const steps = simulation.steps.map(({ success, result, revertReason, gasUsed }, index) => {
    const { to, value, data } = calls[index] ?? { to: '', value: '0', data: '0x' };
    return {
      ...{ label: transactions[index]?.label ?? `Step ${String(index + 1)}`, success, result },
      ...{ revertReason, gasUsed, to, value, data },
      valueInUnits: formatUnits(parseWei(value) ?? 0n, chain.decimals),
    };
  });
  let total: bigint | null = 0n;
  for (const { gasUsed } of steps) {
    const gas = gasUsed === null ? undefined : parseWei(gasUsed);
    total = total === null || gas === undefined ? null : total + gas;
  }
  return {
    succeeded: steps.every(({ success }) => success),
    stateful: simulation.stateful,
    from,
    chain: { id: chain.id, name: chain.name },
    totalGas: total === null ? null : String(total),
    fee: chain.fee,
    steps,
  };
}

/** The messages of `Chains` are for the user. */
function wordsOf(error: unknown, otherwise: string): string {
  return error instanceof Error && error.message !== '' ? error.message : otherwise;
}

function invalid(path: string, message: string, cause?: unknown): RefusedError {
  return new RefusedError('invalid', message, [{ path, message }], undefined, { cause });
}

function unavailable(message: string, cause?: unknown): RefusedError {
  return new RefusedError('unavailable', message, [], 5, { cause });
}
