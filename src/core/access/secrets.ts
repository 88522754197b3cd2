import { DEFAULT_APP, type App, type SecretSlot } from '../model/app.js';
import type { Access } from './app-access.js';
import { LentSecrets } from './lent-secrets.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { Log } from '../ports/log.js';
import { RefusedError, type Problem } from '../model/refusal.js';
import type { Session } from '../model/session.js';
import type { SealedSecret, Sealer, SecretStore } from '../ports/secret-store.js';

const MIN_CLIENT_ID = 16;
const MAX_CLIENT_ID = 256;
const MAX_VALUE_BYTES = 8_192;
const MAX_VALUES = 64;
/** How many values a client may store in one App. Every tool call decrypts all of them. */
const MAX_KEPT = 256;
/** How many bytes a client may store in all Apps together, see `secretBytes`. */
const MAX_CLIENT_BYTES = 1_048_576;
/** `Retry-After` for a client whose App has no room for more secrets, in seconds. */
const APP_FULL_RETRY = 3_600;
/** The use of a client's secrets is recorded at most once per this interval. */
const NOTE_MS = 86_400_000;
/** Upper bound of the clients whose last recorded use is kept in memory. */
const MAX_NOTED = 10_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/** Returns the placeholder that stands for a secret's value in text: `$SECRET:NAME`. */
export function secretHandle(name: string): string {
  return `$SECRET:${name}`;
}

/**
 * Stores the secrets of clients. Values are encrypted at rest, decrypted only for a tool call, and never returned. A
 * client is identified by the digest of its id; the id itself is a bearer credential and is not stored.
 */
export class Secrets {
  /** When this process last recorded a use of each client's secrets, by the monotonic clock. */
  readonly #noted = new Map<string, number>();

  constructor(
    private readonly parts: {
      readonly secretStore: SecretStore;
      readonly sealer: Sealer;
      readonly digests: Digests;
      readonly access: Access;
      readonly clock: Clock;
      readonly log: Log;
      /** As `CoreSettings.maxSecretsBytes`. */
      readonly maxAppBytes: number;
    },
  ) {}

  /** Returns the digest that identifies a client. */
  clientOf(clientId: string): string {
    return this.parts.digests.sha256(clientId);
  }

  /**
   * Returns the client of a request: the one that it names, or else the one that the session is bound to. An empty id
   * names none.
   */
  clientFor(clientId: string | undefined, session: Pick<Session, 'client'>): string | null {
    return clientId === undefined || clientId === '' ? session.client : this.clientOf(clientId);
  }

  /**
   * Stores values of a client for an App (by default `default`).
   * @returns the handle of each value, by name
   * @throws RefusedError also if the App key does not authorize the App
   */
  async store(request: {
    clientId: string;
    values: Readonly<Record<string, unknown>>;
    app: string | undefined;
    key: string | undefined;
  }): Promise<Readonly<Record<string, string>>> {
    const client = this.clientOf(longEnough(request.clientId));
    const values = checkedValues(request.values);
    const { name: app } = await this.parts.access.authorize(request.app ?? DEFAULT_APP, request.key);
    const sealed = values.map(([name, value]): SealedSecret => {
      return { app, name, ...this.parts.sealer.seal(value, sealContext(client, app, name)) };
    });
    await this.#put(client, app, sealed);
    return Object.fromEntries(values.map(([name]) => [name, secretHandle(name)]));
  }

  /** Returns the names of a client's secrets, by App. */
  async names(clientId: string): Promise<Readonly<Record<string, readonly string[]>>> {
    const byApp = new Map<string, string[]>();
    for (const { app, name } of await this.parts.secretStore.readSecrets(this.clientOf(clientId), null)) {
      const names = byApp.get(app);
      if (names === undefined) byApp.set(app, [name]);
      else names.push(name);
    }
    return Object.fromEntries(byApp);
  }

  /**
   * Deletes a client's secrets.
   * @param which the App and the name; null: any
   * @returns how many were deleted
   */
  delete(clientId: string, which: { app: string | null; name: string | null }): Promise<number> {
    return this.parts.secretStore.deleteSecrets(this.clientOf(clientId), which);
  }

  /** Decrypts a client's values in an App for a tool call. A value that cannot be decrypted fails when it is read. */
  async open(client: string | null, app: string): Promise<LentSecrets> {
    if (client === null) return new LentSecrets();
    const open: [string, string][] = [];
    const closed: string[] = [];
    const rows = await this.parts.secretStore.readSecrets(client, app);
    if (rows.length > 0) this.#noteUse(client);
    for (const row of rows) {
      try {
        open.push([row.name, this.parts.sealer.open(row, sealContext(client, app, row.name))]);
      } catch {
        // `LentSecrets.get` reports it by name. The cause has no information that a user could act on.
        closed.push(row.name);
      }
    }
    return new LentSecrets(open, closed);
  }

  /**
   * Checks that the client has a usable value for every required slot of an App.
   * @throws RefusedError `invalid`, naming the slots that are empty, or whose values cannot be decrypted
   */
  async requireSlots(app: App, client: string | null): Promise<void> {
    const required = app.secrets.filter((slot) => slot.required);
    if (required.length === 0) return;
    const lent = await this.open(client, app.name);
    const empty = required.filter(({ name }) => !lent.has(name));
    if (empty.length > 0) {
      const message = `The App ${app.name} needs a secret in: ${namesOf(empty)}. Store it with POST /api/secrets and send its client_id`;
      throw new RefusedError('invalid', message, empty.map(asProblem));
    }
    const closed = required.filter(({ name }) => lent.isClosed(name));
    if (closed.length === 0) return;
    const message =
      `The secret in: ${namesOf(closed)} of the App ${app.name} can no longer be opened, as the service's key for secrets ` +
      'has changed. Store it again with POST /api/secrets';
    throw new RefusedError('invalid', message, closed.map(asProblem));
  }

  /** @throws RefusedError if the client, or all clients of the App together, would exceed a limit */
  async #put(client: string, app: string, sealed: readonly SealedSecret[]): Promise<void> {
    const { secretStore, clock, maxAppBytes } = this.parts;
    const bounds = { names: MAX_KEPT, client: MAX_CLIENT_BYTES, app: maxAppBytes };
    const outcome = await secretStore.putSecrets(client, sealed, bounds, clock.now());
    switch (outcome) {
      case 'stored':
        return;
      case 'names':
        throw bad(
          'secrets',
          `would exceed ${String(MAX_KEPT)} secrets of this client in this App: delete some first`,
        );
      case 'client':
        throw new RefusedError(
          'full',
          `The client would exceed ${String(MAX_CLIENT_BYTES)} bytes of sealed secrets: delete some first`,
        );
      case 'app':
        throw new RefusedError(
          'too_many',
          `The App ${app} has no room for more secrets now. Unused ones are removed later: try again then`,
          [],
          APP_FULL_RETRY,
        );
    }
  }

  /**
   * Records in the background that a session uses a client's secrets. Secrets that have not been used for a long time
   * are pruned.
   */
  #noteUse(client: string): void {
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

function namesOf(slots: readonly SecretSlot[]): string {
  return slots.map(({ name }) => name).join(', ');
}

function asProblem({ name, description }: SecretSlot): Problem {
  return { path: `secrets.${name}`, message: description === '' ? 'is needed' : description };
}

/**
 * Returns the authenticated context of a sealed value. A value that is moved to another client, App or name cannot be
 * decrypted.
 */
export function sealContext(client: string, app: string, name: string): string {
  return JSON.stringify([client, app, name]);
}

function longEnough(clientId: string): string {
  // Ids with lone surrogates would share a digest: each of them encodes as U+FFFD.
  const fits =
    clientId.length >= MIN_CLIENT_ID && clientId.length <= MAX_CLIENT_ID && clientId.isWellFormed();
  if (fits) return clientId;
  const message = `client_id must have ${String(MIN_CLIENT_ID)} to ${String(MAX_CLIENT_ID)} characters: it is all that protects the secrets`;
  throw new RefusedError('invalid', message, [{ path: 'client_id', message }]);
}

function checkedValues(values: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  const entries = Object.entries(values);
  if (entries.length < 1 || entries.length > MAX_VALUES)
    throw bad('secrets', `must have 1 to ${String(MAX_VALUES)} entries`);
  return entries.map(([name, value]) => {
    if (!NAME.test(name)) {
      throw bad(
        'secrets',
        'must have names of 1 to 128 letters, digits, _, . and - that begin with a letter or _',
      );
    }
    const isText = typeof value === 'string' && value !== '' && value.isWellFormed();
    if (!isText || Buffer.byteLength(value) > MAX_VALUE_BYTES) {
      throw bad(`secrets.${name}`, `must be text of 1 to ${String(MAX_VALUE_BYTES)} bytes`);
    }
    return [name, value];
  });
}

function bad(path: string, message: string): RefusedError {
  return new RefusedError('invalid', `${path} ${message}`, [{ path, message }]);
}
