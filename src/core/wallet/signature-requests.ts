import type { App } from '../model/app.js';
import { isJsonObject, type JsonObject } from '../model/json.js';
import { wellFormed, wellFormedJson } from '../model/text.js';
import type { Chains } from '../ports/chains.js';
import type { ToolContext } from '../ports/tool.js';
import { accountActionIn, readingsOf } from './account-actions.js';
import { requesterOf } from './requester.js';
import { tameLabel } from './request-words.js';
import type { Staging } from './staging.js';
import { chooseChain } from './transaction-order.js';
import { signatureProblem } from './wallet-policy.js';
import type { WalletProofs } from './wallet-proofs.js';
import { repeated, type WalletRequests } from './wallet-requests.js';

/** The arguments of `request_signature`, which its schema has checked. */
export interface SignatureOrder {
  /** EIP-712. Exactly one of `typedData` and `text` is given. */
  readonly typedData: JsonObject | undefined;
  readonly text: string | undefined;
  readonly description: string;
  readonly chainId: number | undefined;
}

/** The dependencies of `SignatureRequests`. */
export interface SignatureRequestParts {
  readonly chains: Chains;
  readonly apps: ReadonlyMap<string, App>;
  readonly walletProofs: Pick<WalletProofs, 'isSignIn' | 'areOfContracts'>;
}

/** Asks wallets to sign messages: typed data, or text. */
export class SignatureRequests {
  constructor(
    private readonly parts: SignatureRequestParts,
    private readonly staging: Staging,
    private readonly requests: WalletRequests,
  ) {}

  /**
   * Stages a message and asks the wallet to sign it. A repeated call asks for nothing new.
   * @throws Error in words for the assistant
   */
  async request(order: SignatureOrder, context: ToolContext): Promise<JsonObject> {
    const { chains, apps, walletProofs } = this.parts;
    const requester = requesterOf(apps, context);
    const { app, policy, wallet } = requester;
    const { userState, sessionId, callId } = context;
    const { typedData, text } = order;
    if ((typedData === undefined) === (text === undefined)) throw new Error('Give either typed_data or text');
    const wanted = order.chainId ?? (typedData && chainOf(typedData));
    const chain = chooseChain(chains.list(), wanted, { policy, userState });
    if (typedData !== undefined) chains.checkTypedData(chain.id, typedData);
    const payload = {
      kind: 'signature',
      typedData: typedData === undefined ? null : storable(typedData),
      text: text === undefined ? null : wellFormed(text),
    } as const;
    const problem = signatureProblem(policy, chain, payload);
    if (problem !== undefined) throw new Error(problem);
    // A model that follows instructions in a hostile page must not get the person to sign in for somebody else.
    if (readingsOf(payload.text ?? '').some((reading) => walletProofs.isSignIn(reading.toString())))
      throw new Error('The text is a sign-in message (EIP-4361): nobody can be asked to sign it here');
    const action = walletProofs.areOfContracts ? accountActionIn(payload) : undefined;
    if (action !== undefined)
      throw new Error(
        `The signature could sign in for a contract wallet, so nobody can be asked for it: ${action}`,
      );
    const label = tameLabel(order.description);
    const staged = await this.staging.store({
      ...{ sessionId, callId, app, wallet, chainId: chain.id, payload, isSound: true },
      label: label === '' ? 'sign a message' : label,
    });
    if (staged.requestedAt !== null) return repeated([staged], context);
    const call = {
      type: 'wallet_eip712_request',
      payload: {
        ...{ typed_data: payload.typedData, description: staged.label, pending_eip712_id: staged.id },
        ...(payload.text !== null && { message: payload.text }),
      },
    };
    return this.requests.ask([staged], call, requester, context);
  }
}

/** Returns the chain that typed data names in its domain. */
function chainOf({ domain }: JsonObject): number | undefined {
  const given = isJsonObject(domain) ? domain.chainId : undefined;
  const id =
    typeof given === 'string' && /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/i.test(given) ? Number(given) : given;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

function storable(typedData: JsonObject): JsonObject {
  const clean = wellFormedJson(typedData);
  return isJsonObject(clean) ? clean : {};
}
