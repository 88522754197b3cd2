import type { JsonObject, JsonValue } from '../../src/core/model/json.js';
import type {
  ChainInfo,
  Chains,
  ChainTransaction,
  SignedPayload,
  SimulatedCall,
  Simulation,
} from '../../src/core/ports/chains.js';

/** Two chains: the currency of the second one has six decimals. */
export const TEST_CHAINS: readonly ChainInfo[] = [
  { id: 1, name: 'Testnet', symbol: 'ETH', decimals: 18, fee: null },
  {
    id: 7,
    name: 'Sixnet',
    symbol: 'SIX',
    decimals: 6,
    fee: { recipient: `0x${'f'.repeat(40)}`, amountWei: '1' },
  },
];

type Lookup = (signal: AbortSignal) => Promise<ChainTransaction | undefined> | ChainTransaction | undefined;

/** Chains whose every answer the test gives. By default each simulation succeeds, and no transaction is known. */
export class ScriptedChains implements Chains {
  /** Every simulation that was asked for. */
  readonly simulated: { chainId: number; from: string; calls: readonly SimulatedCall[] }[] = [];
  /** Every transaction that was asked for. */
  readonly lookedUp: string[] = [];
  /** What the chain says about a transaction, by `chain id:hash`. */
  readonly transactions = new Map<string, Lookup>();
  readonly names = new Map<string, string>();
  /** The index of the call that fails, and why. */
  failing: { readonly index: number; readonly reason: string } | null = null;
  stateful = true;
  nonce = 5;
  /** What a call needs; null: it cannot be estimated. */
  gas: string | null = '21000';
  isSigned: (payload: SignedPayload, signature: string) => boolean | Promise<boolean> = () => true;
  /** What `simulate` does instead of responding. */
  simulation: ((signal: AbortSignal) => Promise<Simulation>) | null = null;

  constructor(private readonly chains: readonly ChainInfo[] = TEST_CHAINS) {}

  list(): readonly ChainInfo[] {
    return this.chains;
  }

  resolveAddress(_: number, text: string): Promise<string> {
    const address = this.names.get(text) ?? text;
    if (/^0x[0-9a-f]{40}$/i.test(address)) return Promise.resolve(address.toLowerCase());
    return Promise.reject(new Error(`${text} is not an address`));
  }

  /** Not the real encoding: a selector, and the arguments as JSON in hex. */
  encodeCall(_: number, signature: string, args: readonly JsonValue[]): Promise<string> {
    const data = Buffer.from(JSON.stringify([signature, ...args])).toString('hex');
    return Promise.resolve(`0x12345678${data}`);
  }

  async simulate(
    chainId: number,
    from: string,
    calls: readonly SimulatedCall[],
    signal: AbortSignal,
  ): Promise<Simulation> {
    this.simulated.push({ chainId, from, calls });
    if (this.simulation !== null) return this.simulation(signal);
    const steps = calls.map((_, index) => {
      const isFailing = index === this.failing?.index;
      return {
        success: !isFailing,
        result: isFailing ? null : '0x',
        revertReason: isFailing ? (this.failing?.reason ?? null) : null,
        gasUsed: '21000',
      };
    });
    return { stateful: this.stateful, steps };
  }

  estimateGas(): Promise<string> {
    return this.gas === null ? Promise.reject(new Error('It reverts.')) : Promise.resolve(this.gas);
  }

  nonceOf(): Promise<number> {
    return Promise.resolve(this.nonce);
  }

  async findTransaction(
    chainId: number,
    hash: string,
    signal: AbortSignal,
  ): Promise<ChainTransaction | undefined> {
    const key = `${String(chainId)}:${hash}`;
    this.lookedUp.push(key);
    return this.transactions.get(key)?.(signal);
  }

  async isSignedBy(
    _chainId: number,
    _address: string,
    payload: SignedPayload,
    signature: string,
  ): Promise<boolean> {
    return this.isSigned(payload, signature);
  }

  checkTypedData(_: number, typedData: JsonObject): void {
    if (typedData.primaryType === undefined) throw new Error('typed_data has no primaryType');
  }
}
