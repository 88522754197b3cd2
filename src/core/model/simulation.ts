/** A batch of transactions to simulate, as a client gives it. */
export interface SimulationRequest {
  /** The session whose wallet sends them where `from` is absent. */
  readonly sessionId: string;
  readonly transactions: readonly {
    /** An address, a name, or the symbol of a configured token. */
    readonly to: string;
    /** In wei, as a decimal string. */
    readonly value: string;
    /** `0x` and hex digits. */
    readonly data: string;
    readonly label: string | undefined;
  }[];
  readonly from: string | undefined;
  /** Absent: the chain of the session's user state, else the first configured one. */
  readonly chainId: number | undefined;
}

/** What a batch of transactions would do. Amounts are decimal strings in wei. */
export interface SimulationReport {
  readonly succeeded: boolean;
  /** True when each transaction saw the effects of those before it. */
  readonly stateful: boolean;
  readonly from: string;
  readonly chain: { readonly id: number; readonly name: string };
  /** Null: not known for all steps. */
  readonly totalGas: string | null;
  readonly fee: { readonly recipient: string; readonly amountWei: string } | null;
  readonly steps: readonly {
    readonly label: string;
    readonly success: boolean;
    readonly result: string | null;
    readonly revertReason: string | null;
    readonly gasUsed: string | null;
    readonly to: string;
    readonly value: string;
    /** The value in units of the native currency, exact. */
    readonly valueInUnits: string;
    readonly data: string;
  }[];
}
