import { addressOf, CHAIN_PREFIX, walletAddress } from '../model/session.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { WalletSignatures } from '../ports/wallet-signatures.js';
import type { Quota } from '../model/quota.js';
import { RefusedError } from '../model/refusal.js';
import type { Sealer } from '../ports/secret-store.js';

/** The settings of wallet sign-in. */
export interface WalletSignIn {
  readonly signatures: WalletSignatures;
  /**
   * The sites, as `host` or `host:port`, whose sign-in messages are accepted. A message for another site could be
   * replayed here otherwise.
   */
  readonly domains: readonly string[];
  /**
   * The chain whose contract wallets are identified by their address alone, as keys are; null: none. Contract wallets
   * of other chains are identified by chain and address (CAIP-10), because different contracts can have the same
   * address.
   */
  readonly homeChain: number | null;
}

/** A single-use nonce to sign, and when it expires. */
export interface Challenge {
  readonly nonce: string;
  readonly expiresAt: number;
}

/** A bearer token that proves control of a wallet until it expires. */
export interface WalletProof {
  readonly proof: string;
  /** The owner that the token authorizes: an address, or chain and address (CAIP-10). */
  readonly wallet: string;
  readonly expiresAt: number;
}

/** How long a nonce is valid, in milliseconds. */
const NONCE_MS = 10 * 60_000;
const PROOF_MS = 24 * 60 * 60_000;
/** How far ahead of this service's clock `Issued At` may be, in milliseconds. */
const SKEW_MS = 10 * 60_000;
const NONCE = 'wallet-nonce 2';
const PROOF = 'wallet-proof 2';
const KEY_ID_LENGTH = 16;
/** The maximum length of a proof in characters; longer ones are rejected without decryption. */
const MAX_PROOF = 1_024;

/** The wallet of a valid proof. */
interface Proven {
  readonly address: string;
  /** The owner that sessions are bound to: the address, or chain and address. */
  readonly owner: string;
}

/** The dependencies of `WalletProofs`. */
interface Needs {
  /** Null: no proofs are required, and every wallet address is trusted. */
  readonly signIn: WalletSignIn | null;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly clock: Clock;
  /** Counts one use of each quota, or returns a quota that is used up. */
  readonly countRequest: (quotas: readonly Quota[]) => Promise<Quota | undefined>;
}

/**
 * Requires wallets to sign in (EIP-4361) before their threads are listed or a session is bound to them. Nonces and
 * proofs are sealed tokens, so every node can verify those of all nodes; the store records only that a nonce was used.
 */
export class WalletProofs implements WalletOwners {
  constructor(private readonly needs: Needs) {}

  /**
   * Creates a nonce to sign.
   * @throws RefusedError `not_found` if no proofs are required
   */
  challenge(): Challenge {
    this.#signIn();
    const { clock, sealer } = this.needs;
    const expiresAt = clock.now() + NONCE_MS;
    const { keyId, sealed } = sealer.seal(`${String(expiresAt)} ${clock.newId()}`, NONCE);
    // Hex, because EIP-4361 allows only letters and digits.
    return { nonce: keyId + Buffer.from(sealed, 'base64').toString('hex'), expiresAt };
  }

  /**
   * Exchanges a signed message for a proof of its wallet. Each nonce can be used once.
   * @throws RefusedError `not_found` if no proofs are required, `invalid` if the text is not a sign-in message,
   * `unauthenticated` if the message, nonce or signature is not valid, `unavailable` if the wallet's chain is
   */
  async prove(request: { readonly message: string; readonly signature: string }): Promise<WalletProof> {
    const { domains, signatures } = this.#signIn();
    const { clock, digests, sealer, countRequest } = this.needs;
    const message = signatures.read(request.message);
    if (message === undefined) {
      const words =
        'message must be a sign-in message in the format of EIP-4361, its address with an EIP-55 checksum';
      throw new RefusedError('invalid', words, [{ path: 'message', message: words }]);
    }
    const now = clock.now();
    if (!domains.includes(message.domain) || !message.isOfSite)
      throw unproven('The message was signed for another site');
    if (now < message.notBefore || now >= message.expiresAt || now < message.issuedAt - SKEW_MS) {
      throw unproven('The message is not valid now');
    }
    const nonce = this.#open(message.nonce, 'hex', NONCE);
    const nonceExpiresAt = Number(nonce?.split(' ')[0] ?? 0);
    if (nonce === undefined || now >= nonceExpiresAt) {
      throw unproven('The nonce was not issued by this service or has expired: fetch another');
    }
    const signer = await signatures.verify(request.message, request.signature).catch((cause: unknown) => {
      throw new RefusedError('unavailable', 'The chain of the wallet is not available now', [], 5, { cause });
    });
    if (signer === undefined) {
      throw unproven(
        'The signature is not from the wallet in the message, or the wallet is a contract on an unsupported chain',
      );
    }
    const used: Quota = {
      // The digest of the plaintext: one sealed value has several encodings as a nonce.
      subject: `nonce:${digests.sha256(nonce)}`,
      ...{ measure: 'requests', from: nonceExpiresAt - NONCE_MS, milliseconds: NONCE_MS, limit: 1 },
    };
    if ((await countRequest([used])) !== undefined) throw unproven('The nonce was used: fetch another');
    const address = walletAddress(message.address);
    const chainId = signer.kind === 'contract' ? signer.chainId : null;
    const expiresAt = now + PROOF_MS;
    const value = [expiresAt, address, ...(chainId === null ? [] : [chainId])].join(' ');
    const { keyId, sealed } = sealer.seal(value, PROOF);
    const proof = keyId + Buffer.from(sealed, 'base64').toString('base64url');
    return { proof, wallet: this.#ownerOf(address, chainId), expiresAt };
  }

  /** True for a text whose signature could be exchanged for a proof. */
  isSignIn(text: string): boolean {
    return this.needs.signIn?.signatures.read(text) !== undefined;
  }

  /** True if contracts, such as a Safe, may sign in. */
  get areOfContracts(): boolean {
    return (this.needs.signIn?.homeChain ?? null) !== null;
  }

  get areRequired(): boolean {
    return this.needs.signIn !== null;
  }

  covers(owner: string, proof: string | undefined): boolean {
    return !this.areRequired || this.#provenBy(proof)?.owner === owner;
  }

  ownerOf(wallet: string, proof: string | undefined, bound: string | null): string {
    if (!this.areRequired) return wallet;
    const proven = this.#provenBy(proof);
    if (proven !== undefined && (wallet === proven.owner || wallet === proven.address)) return proven.owner;
    if (bound !== null && (wallet === bound || wallet === addressOf(bound))) return bound;
    if (proven !== undefined) throw new RefusedError('forbidden', 'The proof is of another wallet');
    throw unproven(
      proof === undefined ? 'This service requires wallets to sign in' : 'The proof is not valid',
    );
  }

  #signIn(): WalletSignIn {
    const { signIn } = this.needs;
    if (signIn === null)
      throw new RefusedError('not_found', 'This service does not require proofs of wallets');
    return signIn;
  }

  /** Returns the wallet of a proof; undefined if the proof is invalid or has expired. */
  #provenBy(proof: string | undefined): Proven | undefined {
    if (proof === undefined || proof.length > MAX_PROOF) return undefined;
    const [expiresAt, address, chainId] = this.#open(proof, 'base64url', PROOF)?.split(' ') ?? [];
    if (address === undefined || this.needs.clock.now() >= Number(expiresAt)) return undefined;
    return { address, owner: this.#ownerOf(address, chainId === undefined ? null : Number(chainId)) };
  }

  /** @param chainId the chain of a contract wallet; null for a key, which has the same address on every chain */
  #ownerOf(address: string, chainId: number | null): string {
    const isKnownByAddress = chainId === null || chainId === this.needs.signIn?.homeChain;
    return isKnownByAddress ? address : `${CHAIN_PREFIX}${String(chainId)}:${address}`;
  }

  /** Decrypts a value that this service sealed; undefined for anything else. */
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
