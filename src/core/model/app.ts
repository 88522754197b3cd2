import type { WalletPolicy } from './wallet-request.js';

/** The App that always exists and needs no key. */
export const DEFAULT_APP = 'default';

/** Declares a secret that an App's tools use. */
export interface SecretSlot {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** What happens to a message that arrives while a turn runs: it waits, replaces the turn, or is refused. */
export type BusyStrategy = 'enqueue' | 'interrupt' | 'reject';

/** A named configuration of the assistant. */
export interface App {
  readonly name: string;
  readonly instructions: string;
  /** Ids of the allowed rigs, the default first; null: all. */
  readonly rigs: readonly string[] | null;
  /** Names of the App's tools; null: all except those of tool servers. */
  readonly tools: readonly string[] | null;
  /**
   * Names of the tool servers whose tools the App has. Their tools are named `server.tool`. If `tools` names some tools
   * of a server, the App has only those.
   */
  readonly toolServers: readonly string[];
  readonly secrets: readonly SecretSlot[];
  /** Null: the service's `BUSY_STRATEGY`. */
  readonly busyStrategy: BusyStrategy | null;
  /** Prompts that a page may offer to begin a thread with; null: none of its own. */
  readonly prompts: readonly string[] | null;
  /** Which transactions the App may ask wallets for; null: it has no wallet tools. */
  readonly wallet: WalletPolicy | null;
}
