import { isObject } from './objects.js';
import { quoted } from '../../../client/visible-text.js';

/** The interface of a browser's wallet (EIP-1193). */
export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** A provider with events. */
interface Emitter {
  on(event: string, listener: (value: unknown) => void): unknown;
  removeListener(event: string, listener: (value: unknown) => void): unknown;
}

/** True for an object with the interface of a wallet. */
export function isProvider(value: unknown): value is Provider {
  return isObject(value) && 'request' in value && typeof value.request === 'function';
}

/** Listens to an event of a wallet, if it has events. Returns a function that stops listening. */
export function listen(provider: Provider, event: string, listener: (value: unknown) => void): () => void {
  if (!isEmitter(provider)) return () => undefined;
  provider.on(event, listener);
  return () => {
    provider.removeListener(event, listener);
  };
}

function isEmitter(value: object): value is Emitter {
  return (
    'on' in value &&
    typeof value.on === 'function' &&
    'removeListener' in value &&
    typeof value.removeListener === 'function'
  );
}

/** Codes of EIP-1193, EIP-3326 and JSON-RPC. */
export const CODES = { rejected: 4001, unknownChain: 4902, alreadyAsked: -32002 } as const;

/** Codes that say that the wallet did nothing: repeating the call is harmless. */
const HARMLESS: ReadonlySet<number> = new Set([
  ...[CODES.rejected, 4100, 4200, CODES.unknownChain, CODES.alreadyAsked],
  ...[-32600, -32601, -32602],
]);

/** Descriptions of methods for users. */
const ACTIONS: Readonly<Record<string, string>> = {
  eth_sendTransaction: 'send transactions for this page',
  eth_signTypedData_v4: 'sign typed data',
  personal_sign: 'sign texts',
  wallet_switchEthereumChain: 'change its chain for this page',
};

/** The error of a call to a wallet. `message` can be shown to a user. */
export class WalletError extends Error {
  override readonly name = 'WalletError';

  constructor(
    message: string,
    /** The code of the wallet; null: none. */
    readonly code: number | null = null,
  ) {
    super(message);
  }

  /** False if the wallet may have signed although the call failed. */
  get isHarmless(): boolean {
    return this.code !== null && HARMLESS.has(this.code);
  }
}

/**
 * Calls a wallet.
 * @throws WalletError
 */
export async function callWallet(
  provider: Provider,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    throw asWalletError(error, method);
  }
}

function asWalletError(error: unknown, method: string): WalletError {
  const code = codeOf(error);
  switch (code) {
    case CODES.rejected:
      return new WalletError('You declined in the wallet.', code);
    case 4100:
      return new WalletError('The wallet has not authorized this page: connect it again.', code);
    case 4200:
    case -32601:
      return new WalletError(`The wallet cannot ${ACTIONS[method] ?? 'do this'}.`, code);
    case CODES.unknownChain:
      return new WalletError(
        'The wallet does not know this chain: add it in the wallet, then try again.',
        code,
      );
    case 4900:
    case 4901:
      return new WalletError('The wallet is disconnected from its chain.', code);
    case CODES.alreadyAsked:
      return new WalletError('The wallet has an open prompt: open the wallet and finish it there.', code);
    default:
      return new WalletError(`The wallet reported an error: ${wordsOf(error)}.`, code);
  }
}

/** Returns the code of an error; some wallets wrap the one that matters. */
function codeOf(error: unknown): number | null {
  if (!isObject(error) || !('code' in error) || typeof error.code !== 'number') return null;
  const data = 'data' in error && isObject(error.data) ? error.data : {};
  const original = 'originalError' in data && isObject(data.originalError) ? data.originalError : {};
  return 'code' in original && original.code === CODES.unknownChain ? CODES.unknownChain : error.code;
}

function wordsOf(error: unknown): string {
  const message = isObject(error) && 'message' in error ? error.message : error;
  return typeof message === 'string' && message.trim() !== '' ? quoted(message, 200) : 'none';
}
