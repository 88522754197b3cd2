import type { JsonObject } from './json.js';
import type { PendingRequest } from './wallet-request.js';

/** The pending requests as a user state shows them, by id. */
interface ShownRequests {
  readonly transactions: JsonObject;
  readonly signatures: JsonObject;
}

/** Returns the keys that the user state gets at its top level; empty when nothing is pending. */
export function flatPending(pending: readonly PendingRequest[]): JsonObject {
  const { transactions, signatures } = shownRequests(pending);
  return {
    ...(hasKeys(transactions) && { pending_txs: transactions }),
    ...(hasKeys(signatures) && { pending_eip712s: signatures }),
  };
}

/** Returns the group `pending` of a nested user state; empty when nothing is pending. */
export function nestedPending(pending: readonly PendingRequest[]): JsonObject {
  const { transactions, signatures } = shownRequests(pending);
  const group: JsonObject = {
    ...(hasKeys(transactions) && { evm_txs: transactions }),
    ...(hasKeys(signatures) && { evm_sigs: signatures }),
  };
  return hasKeys(group) ? { pending: group } : {};
}

function shownRequests(pending: readonly PendingRequest[]): ShownRequests {
  const transactions: Record<string, JsonObject> = {};
  const signatures: Record<string, JsonObject> = {};
  for (const { id, payload, chainId, wallet, label } of pending) {
    if (payload.kind === 'transaction') {
      const { to, value, data, gas } = payload;
      transactions[String(id)] = {
        ...{ to, value, data, chain_id: chainId, from: wallet },
        ...(gas !== null && { gas }),
        label,
        ...(data === '0x' && { kind: 'native_transfer' }),
      };
    } else {
      const { typedData, text } = payload;
      signatures[String(id)] = {
        ...{ typed_data: typedData, description: label, chain_id: chainId },
        ...(text !== null && { message: text }),
      };
    }
  }
  return { transactions, signatures };
}

function hasKeys(object: JsonObject): boolean {
  return Object.keys(object).length > 0;
}
