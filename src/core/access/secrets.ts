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
/** Bytes of one value; how many values one request may bring; the form of a name. */
const MAX_VALUE_BYTES = 8_192;
const MAX_VALUES = 64;
/** How many values a client may keep in an App: each tool call opens all of them. */
const MAX_KEPT = 256;
/** How many bytes a client may keep in all Apps, see `secretBytes`. */
const MAX_CLIENT_BYTES = 1_048_576;
/** When a client may try again whose App is full, in seconds. */
const APP_FULL_RETRY = 3_600;
/** How often the use of a client's secrets is noted, and how many clients this process remembers to have noted. */
const NOTE_MS = 86_400_000;
const MAX_NOTED = 10_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/** What stands for a secret wherever its value must not: `$SECRET:NAME`. */
export function secretHandle(name: string): string {
  return `$SECRET:${name}`;
}

/**
 * The secrets of clients: sealed at rest, opened only for a tool call, and never told again. A client is
 * known by the digest of its id, which is a bearer capability and is kept nowhere.
 */
export class Secrets {
  /** When this process last noted a use of each client's secrets, by the clock that nobody sets. */
  readonly #noted = new Map<string, number>();

  constructor(
    private readonly parts: {
      readonly secretStore: SecretStore;
      readonly sealer: Sealer;
      readonly digests: Digests;
      readonly access: Access;
      readonly clock: Clock;
      readonly log: Log;
      /** As in the settings. */
      readonly maxAppBytes: number;
    },
  ) {}

  /** What a client is known by. */
  clientOf(clientId: string): string {
    return this.parts.digests.sha256(clientId);
  }

  /**
   * The client of a request: the one that it names (a blank id names none), else the one that the session is bound to.
   */
  clientFor(clientId: string | undefined, session: Pick<Session, 'client'>): string | null {
    return clientId === undefined || clientId === '' ? session.client : this.clientOf(clientId);
  }

  /** Stores values under the client, for an App (absent: `default`) whose key is needed. Returns their handles. */
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

  /** The names that a client has stored, by App. */
  async names(clientId: string): Promise<Readonly<Record<string, readonly string[]>>> {
    const byApp = new Map<string, string[]>();
    for (const { app, name } of await this.parts.secretStore.readSecrets(this.clientOf(clientId), null)) {
      const names = byApp.get(app);
      if (names === undefined) byApp.set(app, [name]);
      else names.push(name);
    }
    return Object.fromEntries(byApp);
  }

  /** Removes a client's secrets: of one App or of all, of one name or all. Returns how many there were. */
  delete(clientId: string, which: { app: string | null; name: string | null }): Promise<number> {
    return this.parts.secretStore.deleteSecrets(this.clientOf(clientId), which);
  }

  /** The values of an App for a tool call. One that does not open fails whoever asks for it, and nobody else. */
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
        // Told by name to whoever asks for it: why a cipher refuses is nothing that one could act on.
        closed.push(row.name);
      }
    }
    return new LentSecrets(open, closed);
  }

  /**
   * @throws RefusedError `invalid`, naming the required slots of the App that the client has not filled, or whose value
   * does not open
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

  /** @throws RefusedError when the client, or all clients of the App together, would keep too much */
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
          `would be more than ${String(MAX_KEPT)} of this client in this App: delete some first`,
        );
      case 'client':
        throw new RefusedError(
          'full',
          `The client would keep more than ${String(MAX_CLIENT_BYTES)} bytes of sealed secrets: delete some first`,
        );
      case 'app':
        throw new RefusedError(
          'too_many',
          `The App ${app} has no room for more secrets now; those that no session uses are removed in time`,
          [],
          APP_FULL_RETRY,
        );
    }
  }

  /**
   * Notes in the background that a session uses secrets of a client: those of a client that none has used for long are
   * removed.
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
      log.warn({ err: error }, 'failed to note the use of secrets');
    });
  }
}

function namesOf(slots: readonly SecretSlot[]): string {
  return slots.map(({ name }) => name).join(', ');
}

function asProblem({ name, description }: SecretSlot): Problem {
  return { path: `secrets.${name}`, message: description === '' ? 'is needed' : description };
}

/** Binds a sealed value to its place: moved to another client, App or name, it does not open. */
export function sealContext(client: string, app: string, name: string): string {
  return JSON.stringify([client, app, name]);
}

function longEnough(clientId: string): string {
  // Text that is not well-formed would share its digest with others.
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
