import { addressOf, CHAIN_PREFIX, walletAddress } from '../model/session.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { WalletSignatures } from '../ports/wallet-signatures.js';
import type { Quota } from '../model/quota.js';
import { RefusedError } from '../model/refusal.js';
import type { Sealer } from '../ports/secret-store.js';

/** How wallets show whose they are. */
export interface WalletSignIn {
  readonly signatures: WalletSignatures;
  /**
   * The sites, as `host` or `host:port`, whose sign-in messages count: one that was signed elsewhere was meant for
   * others.
   */
  readonly domains: readonly string[];
  /**
   * The chain whose contract wallets are known by their address alone, as keys are; null: none is. Those of other
   * chains are known by chain and address (CAIP-10), because another contract may have the same address there.
   */
  readonly homeChain: number | null;
}

/** A word to sign, once and soon. */
export interface Challenge {
  readonly nonce: string;
  readonly expiresAt: number;
}

/** What stands for a wallet's signature from then on. */
export interface WalletProof {
  readonly proof: string;
  /** What sessions are bound to by it: an address, or chain and address (CAIP-10). */
  readonly wallet: string;
  readonly expiresAt: number;
}

/** How long a nonce waits for its signature, in milliseconds. */
const NONCE_MS = 10 * 60_000;
const PROOF_MS = 24 * 60 * 60_000;
/** How far ahead of this service the clock of a client may be that writes `Issued At`, in milliseconds. */
const SKEW_MS = 10 * 60_000;
const NONCE = 'wallet-nonce 2';
const PROOF = 'wallet-proof 2';
const KEY_ID_LENGTH = 16;
/** In characters: longer ones are not looked at. */
const MAX_PROOF = 1_024;

/** The wallet that a proof stands for. */
interface Proven {
  readonly address: string;
  /** What sessions are bound to: the address, or chain and address. */
  readonly owner: string;
}

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
 * Asks wallets to sign in (EIP-4361) before their threads are listed or a session is bound to them. Nonces and proofs
 * are sealed, not stored, so every node knows those of all; only that a nonce was used is written down.
 */
export class WalletProofs implements WalletOwners {
  constructor(private readonly needs: Needs) {}

  /** @throws RefusedError `not_found` when nobody asks for proofs */
  challenge(): Challenge {
    this.#signIn();
    const { clock, sealer } = this.needs;
    const expiresAt = clock.now() + NONCE_MS;
    const { keyId, sealed } = sealer.seal(`${String(expiresAt)} ${clock.newId()}`, NONCE);
    // Letters and digits alone, as EIP-4361 has it.
    return { nonce: keyId + Buffer.from(sealed, 'base64').toString('hex'), expiresAt };
  }

  /**
   * Takes a signed message for a proof of its wallet. Each nonce serves once.
   * @throws RefusedError `not_found`, `invalid` for what is no sign-in message, `unauthenticated` for one that proves
   * nothing
   */
  async prove(request: { readonly message: string; readonly signature: string }): Promise<WalletProof> {
    const { domains, signatures } = this.#signIn();
    const { clock, digests, sealer, countRequest } = this.needs;
    const message = signatures.read(request.message);
    if (message === undefined) {
      const words =
        'message must be a sign-in message as EIP-4361 has it, its address with the checksum of EIP-55';
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
      throw unproven('The nonce is not one of this service, or is too old: fetch another');
    }
    const signer = await signatures.verify(request.message, request.signature).catch((cause: unknown) => {
      throw new RefusedError('unavailable', 'The chain of the wallet does not answer now', [], 5, { cause });
    });
    if (signer === undefined) {
      throw unproven(
        'The signature is not one of the wallet in the message, or the wallet is a contract on a chain where none can sign in',
      );
    }
    const used: Quota = {
      // Of what was sealed: the nonce itself has several spellings.
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
  #provenBy(proof: string | undefined): Proven | undefined {
    if (proof === undefined || proof.length > MAX_PROOF) return undefined;
    const [expiresAt, address, chainId] = this.#open(proof, 'base64url', PROOF)?.split(' ') ?? [];
    if (address === undefined || this.needs.clock.now() >= Number(expiresAt)) return undefined;
    return { address, owner: this.#ownerOf(address, chainId === undefined ? null : Number(chainId)) };
  }

  /** @param chainId the chain of a contract wallet; null for a key, which is the same on all */
  #ownerOf(address: string, chainId: number | null): string {
    const isKnownByAddress = chainId === null || chainId === this.needs.signIn?.homeChain;
    return isKnownByAddress ? address : `${CHAIN_PREFIX}${String(chainId)}:${address}`;
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
