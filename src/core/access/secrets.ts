import { DEFAULT_APP, type App, type SecretSlot } from '../model/app.js';
import type { Access } from './app-access.js';
import { LentSecrets } from './lent-secrets.js';
import { SecretUse } from './secret-use.js';
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
/** The name under which the store holds values for any App. No App can have it: names begin with a letter or a digit. */
const ANY_APP = '@any';
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const NAME_WITH_COLONS = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

/** Values to store for a client. */
export interface SecretValues {
  readonly clientId: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Absent: `default`, or with `forAnyApp` any App. */
  readonly app: string | undefined;
  /** The App key. */
  readonly key: string | undefined;
  /**
   * Stores values without an `app` for any App: they serve an App's slots of their names where the App has no value of
   * its own, and are listed and deleted as those of `default`.
   */
  readonly forAnyApp?: boolean | undefined;
  /** Allows `:` in names. */
  readonly allowsColons?: boolean | undefined;
}

/** Returns the placeholder that stands for a secret's value in text: `$SECRET:NAME`. */
export function secretHandle(name: string): string {
  return `$SECRET:${name}`;
}

/**
 * Stores the secrets of clients. Values are encrypted at rest, decrypted only for a tool call, and never returned. A
 * client is identified by the digest of its id; the id itself is a bearer credential and is not stored.
 */
export class Secrets {
  readonly #use: SecretUse;

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
  ) {
    this.#use = new SecretUse(parts);
  }

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
   * Stores values of a client.
   * @returns the handle of each value, by name
   * @throws RefusedError also if the App key does not authorize the App
   */
  async store(request: SecretValues): Promise<Readonly<Record<string, string>>> {
    const client = this.clientOf(requireLongId(request.clientId));
    const values = checkedValues(request.values, request.allowsColons === true ? NAME_WITH_COLONS : NAME);
    const app =
      request.forAnyApp === true && request.app === undefined
        ? ANY_APP
        : (await this.parts.access.authorize(request.app ?? DEFAULT_APP, request.key)).name;
    const sealed = values.map(([name, value]): SealedSecret => {
      return { app, name, ...this.parts.sealer.seal(value, sealContext(client, app, name)) };
    });
    await this.#put(client, app, sealed);
    return Object.fromEntries(values.map(([name]) => [name, secretHandle(name)]));
  }

  /**
   * Returns the names of a client's secrets, by App.
   * @param client the digest of its id
   */
  async names(client: string): Promise<Readonly<Record<string, readonly string[]>>> {
    const byApp = new Map<string, Set<string>>();
    for (const row of await this.parts.secretStore.readSecrets(client, null)) {
      const app = row.app === ANY_APP ? DEFAULT_APP : row.app;
      const names = byApp.get(app);
      if (names === undefined) byApp.set(app, new Set([row.name]));
      else names.add(row.name);
    }
    return Object.fromEntries([...byApp].map(([app, names]) => [app, [...names].sort()]));
  }

  /**
   * Deletes a client's secrets.
   * @param client the digest of its id
   * @param which the App and the name; null: any
   * @returns how many were deleted
   */
  async delete(client: string, which: { app: string | null; name: string | null }): Promise<number> {
    const { secretStore } = this.parts;
    const removed = await secretStore.deleteSecrets(client, which);
    if (which.app !== DEFAULT_APP) return removed;
    return removed + (await secretStore.deleteSecrets(client, { ...which, app: ANY_APP }));
  }

  /**
   * Decrypts a client's values in an App for a tool call. A value that cannot be decrypted fails when it is read.
   * Values for any App are lent to those Apps that declare a slot of their name, and to `default`.
   */
  async open(client: string | null, app: Pick<App, 'name' | 'secrets'>): Promise<LentSecrets> {
    if (client === null) return new LentSecrets();
    const { secretStore } = this.parts;
    const [own, shared] = await Promise.all([
      secretStore.readSecrets(client, app.name),
      secretStore.readSecrets(client, ANY_APP),
    ]);
    const isLent = ({ name }: SealedSecret): boolean =>
      app.name === DEFAULT_APP || app.secrets.some((slot) => slot.name === name);
    // The App's own value comes last, so that it takes precedence.
    const rows = new Map([...shared.filter(isLent), ...own].map((row) => [row.name, row]));
    if (rows.size > 0) this.#use.note(client);
    const open: [string, string][] = [];
    const closed: string[] = [];
    for (const [name, row] of rows) {
      try {
        open.push([name, this.parts.sealer.open(row, sealContext(client, row.app, name))]);
      } catch {
        // `LentSecrets.get` reports it by name. The cause has no information that a user could act on.
        closed.push(name);
      }
    }
    return new LentSecrets(open, closed);
  }

  /**
   * Checks that the client has a usable value for every required slot of an App.
   * @throws RefusedError see `missingSlots`
   */
  async requireSlots(app: App, client: string | null): Promise<void> {
    const missing = await this.missingSlots(app, client);
    if (missing !== undefined) throw missing;
  }

  /**
   * Returns the refusal of a client without a usable value for every required slot of an App: `invalid`, naming the
   * slots that are empty, or whose values cannot be decrypted.
   */
  async missingSlots(app: App, client: string | null): Promise<RefusedError | undefined> {
    const required = app.secrets.filter((slot) => slot.required);
    if (required.length === 0) return undefined;
    const lent = await this.open(client, app);
    const empty = required.filter(({ name }) => !lent.has(name));
    if (empty.length > 0) {
      const message = `The App ${app.name} needs a secret in: ${namesOf(empty)}. Store it with POST /api/secrets and send its client_id`;
      return new RefusedError('invalid', message, empty.map(asProblem));
    }
    const closed = required.filter(({ name }) => lent.isClosed(name));
    if (closed.length === 0) return undefined;
    const message =
      `The secret in: ${namesOf(closed)} of the App ${app.name} can no longer be opened, as the service's key for secrets ` +
      'has changed. Store it again with POST /api/secrets';
    return new RefusedError('invalid', message, closed.map(asProblem));
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
        throw noRoom(
          app === ANY_APP
            ? 'The service has no room for more secrets without an App now'
            : `The App ${app} has no room for more secrets now`,
        );
    }
  }
}

/** Refuses a value because the storage that its App may use is full. */
export function noRoom(problem: string): RefusedError {
  const message = `${problem}. Unused ones are removed later: try again then`;
  return new RefusedError('too_many', message, [], APP_FULL_RETRY);
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

/** True if values may be stored under a client's id: if it can be long enough to be hard to guess. */
export function isLongId(clientId: string): boolean {
  // Ids with lone surrogates would share a digest: each of them encodes as U+FFFD.
  return clientId.length >= MIN_CLIENT_ID && clientId.length <= MAX_CLIENT_ID && clientId.isWellFormed();
}

/** @throws RefusedError `invalid` unless values may be stored under the id */
export function requireLongId(clientId: string): string {
  if (isLongId(clientId)) return clientId;
  const message = `client_id must have ${String(MIN_CLIENT_ID)} to ${String(MAX_CLIENT_ID)} characters: it is all that protects the secrets`;
  throw new RefusedError('invalid', message, [{ path: 'client_id', message }]);
}

function checkedValues(
  values: Readonly<Record<string, unknown>>,
  validName: RegExp,
): readonly (readonly [string, string])[] {
  const entries = Object.entries(values);
  if (entries.length < 1 || entries.length > MAX_VALUES)
    throw bad('secrets', `must have 1 to ${String(MAX_VALUES)} entries`);
  return entries.map(([name, value]) => {
    if (!validName.test(name)) {
      const marks = validName === NAME ? '_, . and -' : '_, ., : and -';
      throw bad(
        'secrets',
        `must have names of 1 to 128 letters, digits, ${marks} that begin with a letter or _`,
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
