import type { Clock, Digests, WalletSignatures } from './ports.js';
import type { Quota } from './quota.js';
import { RefusedError } from './refusal.js';
import type { Sealer } from './secret-store.js';
import { walletAddress } from './session.js';

/** How wallets show whose they are. */
export interface WalletSignIn {
  readonly signatures: WalletSignatures;
  /** The sites, as `host` or `host:port`, whose sign-in messages count: one that was signed elsewhere was meant for others. */
  readonly domains: readonly string[];
}

/** A word to sign, once and soon. */
export interface Challenge {
  readonly nonce: string;
  readonly expiresAt: number;
}

/** What stands for a wallet's signature from then on. */
export interface WalletProof {
  readonly proof: string;
  readonly wallet: string;
  readonly expiresAt: number;
}

/** How long a nonce waits for its signature, in milliseconds. */
const NONCE_MS = 10 * 60_000;
const PROOF_MS = 24 * 60 * 60_000;
const NONCE = 'wallet-nonce';
const PROOF = 'wallet-proof';
const KEY_ID_LENGTH = 16;

/** What the proofs of wallets need. */
interface Needs {
  /** Null: a wallet is taken at its word. */
  readonly signIn: WalletSignIn | null;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly clock: Clock;
  /** Counts a use of a quota; the quota that is used up, if one is. */
  readonly countRequest: (quotas: readonly Quota[]) => Promise<Quota | undefined>;
}

/**
 * Asks wallets to sign in (EIP-4361) before their threads are listed or a session is bound to them. Nonces and proofs are sealed,
 * not stored, so every node knows those of all; only that a nonce was used is written down.
 */
export class WalletProofs {
  constructor(private readonly needs: Needs) {}

  /** @throws RefusedError `not_found` when nobody asks for proofs */
  challenge(): Challenge {
    this.#signIn();
    const { clock, sealer } = this.needs;
    const expiresAt = clock.now() + NONCE_MS;
    const { keyId, sealed } = sealer.seal(String(expiresAt), NONCE);
    // Letters and digits alone, as EIP-4361 has it.
    return { nonce: keyId + Buffer.from(sealed, 'base64').toString('hex'), expiresAt };
  }

  /**
   * Takes a signed message for a proof of its wallet. Each nonce serves once.
   * @throws RefusedError `not_found`, `invalid` for what is no sign-in message, `unauthenticated` for one that proves nothing
   */
  async prove(request: { readonly message: string; readonly signature: string }): Promise<WalletProof> {
    const { domains, signatures } = this.#signIn();
    const { clock, digests, sealer, countRequest } = this.needs;
    const message = signatures.read(request.message);
    if (message === undefined) {
      const words = 'message must be a sign-in message as EIP-4361 has it';
      throw new RefusedError('invalid', words, [{ path: 'message', message: words }]);
    }
    const now = clock.now();
    if (!domains.includes(message.domain)) throw unproven('The message was signed for another site');
    if (now < message.notBefore || now >= message.expiresAt) throw unproven('The message is not valid now');
    const nonceExpiresAt = Number(this.#open(message.nonce, 'hex', NONCE) ?? 0);
    if (now >= nonceExpiresAt) {
      throw unproven('The nonce is not one of this service, or is too old: fetch another');
    }
    const isSigned = await signatures.verify(request.message, request.signature).catch((cause: unknown) => {
      throw new RefusedError('unavailable', 'The chain of the wallet does not answer now', [], 5, { cause });
    });
    if (!isSigned) {
      throw unproven('The signature is not one of the wallet in the message');
    }
    const used: Quota = {
      subject: `nonce:${digests.sha256(message.nonce)}`,
      ...{ measure: 'requests', from: nonceExpiresAt - NONCE_MS, milliseconds: NONCE_MS, limit: 1 },
    };
    if ((await countRequest([used])) !== undefined) throw unproven('The nonce was used: fetch another');
    const wallet = walletAddress(message.address);
    const expiresAt = now + PROOF_MS;
    const { keyId, sealed } = sealer.seal(`${String(expiresAt)} ${wallet}`, PROOF);
    return { proof: keyId + Buffer.from(sealed, 'base64').toString('base64url'), wallet, expiresAt };
  }

  /** Whether wallets have to sign in. */
  get areRequired(): boolean {
    return this.needs.signIn !== null;
  }

  /** Whether whoever sent `proof` may act for the wallet; always true when nobody asks for proofs. */
  covers(wallet: string, proof: string | undefined): boolean {
    return !this.areRequired || (proof !== undefined && this.#walletOf(proof) === wallet);
  }

  /** @throws RefusedError `unauthenticated` without a proof that holds, `forbidden` with that of another wallet */
  require(wallet: string, proof: string | undefined): void {
    if (this.covers(wallet, proof)) return;
    const proven = proof === undefined ? undefined : this.#walletOf(proof);
    if (proven !== undefined) throw new RefusedError('forbidden', 'The proof is of another wallet');
    throw unproven(
      proof === undefined
        ? 'This service lists and binds only wallets that signed in'
        : 'The proof is not valid',
    );
  }

  #signIn(): WalletSignIn {
    const { signIn } = this.needs;
    if (signIn === null) throw new RefusedError('not_found', 'This service asks for no proof of wallets');
    return signIn;
  }

  /** The wallet of a proof that still holds. */
  #walletOf(proof: string): string | undefined {
    const [expiresAt, wallet] = this.#open(proof, 'base64url', PROOF)?.split(' ') ?? [];
    return this.needs.clock.now() < Number(expiresAt ?? 0) ? wallet : undefined;
  }

  /** What this service has sealed; undefined for anything else. */
  #open(text: string, encoding: 'hex' | 'base64url', context: string): string | undefined {
    const sealed = Buffer.from(text.slice(KEY_ID_LENGTH), encoding).toString('base64');
    try {
      return this.needs.sealer.open({ keyId: text.slice(0, KEY_ID_LENGTH), sealed }, context);
    } catch {
      return undefined;
    }
  }
}

function unproven(what: string): RefusedError {
  return new RefusedError(
    'unauthenticated',
    `${what}. Sign in: GET /api/wallet/nonce, sign an EIP-4361 message with it, POST /api/wallet/proof, and send the proof as X-Wallet-Proof`,
  );
}
