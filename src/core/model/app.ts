/** The App that always exists and needs no key. */
export const DEFAULT_APP = 'default';

/** A place for a secret value that an App's tools use. */
export interface SecretSlot {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** What becomes of a message while a turn works: it waits, it takes its place, or it is refused. */
export type BusyStrategy = 'enqueue' | 'interrupt' | 'reject';

/** A named configuration of the assistant. */
export interface App {
  readonly name: string;
  readonly instructions: string;
  /** Ids of the rigs that it allows, its default first; null: all. */
  readonly rigs: readonly string[] | null;
  /** Names of its tools; null: all but those of tool servers. */
  readonly tools: readonly string[] | null;
  /**
   * Names of the tool servers whose tools it has; a tool of one is named `server.tool`. Where `tools` names some of a
   * server's, only those.
   */
  readonly toolServers: readonly string[];
  readonly secrets: readonly SecretSlot[];
  /** What a message to a busy thread does; null: the service's `BUSY_STRATEGY`. */
  readonly busyStrategy: BusyStrategy | null;
}
