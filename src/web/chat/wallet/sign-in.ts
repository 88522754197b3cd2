import type { WalletProof } from '../../../client/types.js';
import { Observable } from '../../parts/observable.js';
import { readStoredJson, store } from '../../parts/storage.js';
import { reasonOf } from '../conversation/user-words.js';
import { serviceNow } from '../page-fetch.js';
import { isSameAddress } from './address.js';
import { hexText } from './amounts.js';
import type { Connected } from './connection.js';
import { isObject, textField } from './objects.js';
import { callWallet } from './provider.js';

/** The calls of the service for a sign-in. */
export interface SignInService {
  walletNonce(): Promise<string>;
  proveWallet(message: string, signature: string): Promise<WalletProof>;
}

/** The state of the sign-in. */
export interface SignInState {
  /** True once the service has refused a request for lack of a proof. */
  readonly isRequired: boolean;
  /** How many requests were refused for a reason that may be the proof. */
  readonly doubts: number;
  readonly isAsking: boolean;
  readonly problem: string | null;
  /** The proof of the last account that signed in; null: none. */
  readonly proof: KeptProof | null;
}

interface KeptProof {
  readonly address: string;
  readonly proof: string;
}

const KEPT = 'diptych.wallet-proof';

/** Signs in with the connected wallet (EIP-4361) where the service requires it. The proof stays in the tab. */
export class SignIn extends Observable<SignInState> {
  constructor() {
    const proof = readProof();
    super({ isRequired: proof !== null, doubts: 0, isAsking: false, problem: null, proof });
  }

  /** Records that the service has refused to list the threads of a wallet, and removes the proof that it refused. */
  require(wallet: string): void {
    const isRefused = this.proofOf(wallet) !== undefined;
    if (isRefused) store('tab', KEPT, '');
    this.set({ ...this.get(), isRequired: true, ...(isRefused && { proof: null }) });
  }

  /** Records that the service has refused a request. Listing the threads shows whether the proof was the reason. */
  doubt(): void {
    this.set({ ...this.get(), doubts: this.get().doubts + 1 });
  }

  /** Returns the proof of a wallet; undefined: none. Only the service knows whether it has expired. */
  proofOf(wallet: string): string | undefined {
    const { proof } = this.get();
    return proof !== null && isSameAddress(proof.address, wallet) ? proof.proof : undefined;
  }

  /** True if the service will refuse to list the threads of this wallet, or to bind it. */
  lacks(wallet: string): boolean {
    return wallet !== '' && this.get().isRequired && this.proofOf(wallet) === undefined;
  }

  /** Removes the error of the last attempt. */
  forgetProblem(): void {
    if (this.get().problem !== null) this.set({ ...this.get(), problem: null });
  }

  /** Asks the connected wallet to sign a message of this page. */
  async signIn({ wallet, account, chainId }: Connected, service: SignInService): Promise<void> {
    this.set({ ...this.get(), isAsking: true, problem: null });
    try {
      const nonce = await service.walletNonce();
      const message = signInMessage({ account, chainId: chainId ?? 1, nonce });
      const signature = await callWallet(wallet.provider, 'personal_sign', [hexText(message), account]);
      const proven = await service.proveWallet(message, String(signature));
      const proof = { address: account, proof: proven.proof };
      store('tab', KEPT, JSON.stringify(proof));
      this.set({ ...this.get(), isRequired: true, proof });
    } catch (error) {
      this.set({ ...this.get(), problem: reasonOf(error) });
    } finally {
      this.set({ ...this.get(), isAsking: false });
    }
  }
}

/** Returns the text of a sign-in message (EIP-4361) of this page. */
function signInMessage(fields: {
  readonly account: string;
  readonly chainId: number;
  readonly nonce: string;
}): string {
  return [
    `${location.host} wants you to sign in with your Ethereum account:`,
    fields.account,
    '',
    'Show the threads of this wallet, and bind threads to it.',
    '',
    `URI: ${location.origin}`,
    'Version: 1',
    `Chain ID: ${String(fields.chainId)}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${serviceNow().toISOString()}`,
  ].join('\n');
}

function readProof(): KeptProof | null {
  const value = readStoredJson('tab', KEPT);
  const kept = isObject(value) ? value : {};
  const [address, proof] = [textField(kept, 'address'), textField(kept, 'proof')];
  return address === '' || proof === '' ? null : { address, proof };
}
