import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { SecretStore } from '../ports/secret-store.js';

/** The use of a client's values is recorded at most once per this interval. */
const NOTE_MS = 86_400_000;
/** Upper bound of the clients whose last recorded use is kept in memory. */
const MAX_NOTED = 10_000;

/** The dependencies of `SecretUse`. */
export interface SecretUseParts {
  readonly secretStore: Pick<SecretStore, 'noteSecretUse'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Records in the background that clients' stored values are used: unused ones are pruned after some time. */
export class SecretUse {
  /** When this process last recorded a use of each client's values, by the monotonic clock. */
  readonly #noted = new Map<string, number>();

  constructor(private readonly parts: SecretUseParts) {}

  note(client: string): void {
    const { secretStore, clock, log } = this.parts;
    const now = clock.monotonic();
    const noted = this.#noted.get(client);
    if (noted !== undefined && now - noted < NOTE_MS) return;
    if (this.#noted.size >= MAX_NOTED) this.#noted.clear();
    this.#noted.set(client, now);
    const at = clock.now();
    secretStore.noteSecretUse(client, at, at - NOTE_MS).catch((error: unknown) => {
      this.#noted.delete(client);
      log.warn({ err: error }, 'failed to record the use of secrets');
    });
  }
}
