import type { WalletOwners } from '../access/wallet-owners.js';
import { RefusedError } from '../model/refusal.js';
import {
  branchTitle,
  PLACEHOLDER_TITLE,
  type Session,
  type SessionFields,
  type ThreadSummary,
} from '../model/session.js';
import type { CoreSettings } from '../model/settings.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { Store } from '../ports/store.js';
import type { Branched, Branching } from '../ports/stored-thread.js';
import { sessionNotFound } from './session-cache.js';
import type { Sessions } from './sessions.js';

/** Bytes of history that this process copies in a window of `COPY_MS`: copies are cheap to ask for, and fill the disk. */
const COPY_BYTES = 268_435_456;
const COPY_MS = 600_000;

export interface BranchRequest {
  readonly sessionId: string;
  /** The id of the record that ends the history, excluded; null: the whole history. */
  readonly before: string | null;
  readonly walletProof?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The dependencies of `Branches`. */
export interface BranchesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: Pick<CoreSettings, 'idempotencyMs' | 'maxSessionBytes'>;
  readonly walletOwners: WalletOwners;
}

/** Creates sessions that begin with the history of others, which stay as they are. */
export class Branches {
  #copied = 0;
  #windowEnds = 0;
  /** Ends with the last branch that was requested. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly parts: BranchesParts,
    private readonly digests: Digests,
    private readonly sessions: Sessions,
  ) {}

  /**
   * Branches a thread. The branch has its title, marked as a branch, and its App, rig, wallet and user state.
   * @throws RefusedError `not_found`; `invalid` for a record that does not exist or whose turn has not ended; `full`
   * and `too_many` when the copy would exceed a limit; as `createSession` for the wallet
   */
  branch(request: BranchRequest): Promise<ThreadSummary> {
    // One after another, so that each counts the bytes of those before it.
    const branched = this.#last.then(() => this.#branch(request));
    this.#last = branched.catch(() => undefined);
    return branched;
  }

  async #branch(request: BranchRequest): Promise<ThreadSummary> {
    const { store, clock, settings } = this.parts;
    const idempotency = this.#idempotency(request);
    this.#requireRoom();
    for (;;) {
      const source = await this.#source(request.sessionId);
      const branched = await store.branchSession({
        sourceId: source.id,
        ifVersion: source.version,
        before: request.before,
        id: clock.newSecretId(),
        set: await this.#fieldsOf(source, request),
        idempotency,
        maxSessionBytes: settings.maxSessionBytes,
        at: clock.now(),
      });
      if (branched.kind === 'branched') {
        this.#copied += branched.bytes;
        return branched.session;
      }
      if (branched.kind === 'repeated') return this.#existing(branched.sessionId);
      if (branched.kind === 'missing') throw sessionNotFound();
      if (branched.kind !== 'stale') throw this.#refusal(branched);
    }
  }

  /** Reads the session from the store: a cached one may lack a change by another node. */
  async #source(id: string): Promise<Session> {
    const stored = await this.parts.store.loadTail(id, 0);
    if (stored === 'deleted') throw sessionNotFound();
    if (stored !== 'unknown') return stored.session;
    // A session that was never written exists only in memory.
    await this.sessions.get(id);
    const { session } = await this.sessions.write({ id, ifUnknown: 'create' }, () => ({
      set: {},
      isActivity: false,
    }));
    return session;
  }

  async #fieldsOf(source: Session, { before, walletProof }: BranchRequest): Promise<SessionFields> {
    const { wallet, rig, app, userState } = source;
    const owner = wallet === null ? null : this.parts.walletOwners.ownerOf(wallet, walletProof, null);
    const fields = { wallet: owner, rig, app, userState };
    if (source.titleSource === 'placeholder') return fields;
    // An automatic title is about the first message, which the branch does not have.
    if (source.titleSource === 'automatic' && (await this.#isFirst(source.id, before))) {
      return { ...fields, title: PLACEHOLDER_TITLE, titleSource: 'placeholder' };
    }
    return { ...fields, title: branchTitle(source.title), titleSource: source.titleSource };
  }

  async #isFirst(id: string, before: string | null): Promise<boolean> {
    if (before === null) return false;
    const page = await this.parts.store.readMessages(id, { limit: 1, before });
    return page !== 'unknown_message' && page.messages.length === 0;
  }

  #idempotency({ idempotencyKey, before }: BranchRequest): Branching['idempotency'] {
    if (idempotencyKey === undefined) return null;
    const fingerprint = this.digests.sha256(JSON.stringify({ branch: before }));
    const notBefore = this.parts.clock.now() - this.parts.settings.idempotencyMs;
    return { key: idempotencyKey, fingerprint, notBefore };
  }

  async #existing(id: string): Promise<ThreadSummary> {
    try {
      return await this.sessions.get(id);
    } catch (error) {
      if (!(error instanceof RefusedError) || error.reason !== 'not_found') throw error;
      throw new RefusedError('gone', 'The branch was created, and was deleted since');
    }
  }

  #requireRoom(): void {
    const now = this.parts.clock.monotonic();
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + COPY_MS;
      this.#copied = 0;
    }
    if (this.#copied < COPY_BYTES) return;
    const seconds = Math.ceil((this.#windowEnds - now) / 1_000);
    throw new RefusedError(
      'too_many',
      'Too much history was copied into branches; try again later',
      [],
      seconds,
    );
  }

  #refusal(
    branched: Exclude<Branched, { kind: 'branched' | 'repeated' | 'missing' | 'stale' }>,
  ): RefusedError {
    switch (branched.kind) {
      case 'unknown_message':
        return badBefore('before must be the id of a message of this session');
      case 'open_turn':
        return badBefore('before must be a message of a turn that has ended');
      case 'key_reused':
        return new RefusedError('key_reused', 'This Idempotency-Key was used with another request');
      case 'full': {
        const { maxSessionBytes } = this.parts.settings;
        return new RefusedError(
          'full',
          `The branch would hold ${String(branched.bytes)} bytes of text, more than ${String(maxSessionBytes)}: ` +
            'branch at an earlier message',
        );
      }
    }
    return branched satisfies never;
  }
}

function badBefore(message: string): RefusedError {
  return new RefusedError('invalid', message, [{ path: 'before', message }]);
}
