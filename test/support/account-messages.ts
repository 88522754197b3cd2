import type { JsonObject } from '../../src/client/json.js';

/** Messages whose signature can act for a smart account, by their types as EIP-712 encodes them. */
export const ACCOUNT_MESSAGES: readonly string[] = [
  'SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)',
  'SafeMessage(bytes message)',
  'PersonalSign(bytes prefixed)',
  'CoinbaseSmartWalletMessage(bytes32 hash)',
  'AmbireOperation(address account,bytes32 hash)',
  'ForwardRequest(address from,address to,uint256 value,uint256 gas,uint256 nonce,uint48 deadline,bytes data)',
  'MetaTransaction(uint256 nonce,address from,bytes functionSignature)',
  'PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)',
  'Delegation(address delegate,address delegator,bytes32 authority,Caveat[] caveats,uint256 salt)Caveat(address enforcer,bytes terms)',
  'Batch(Call call)Call(bytes[] calls)',
];

/** Messages that act for no account. Their signature can still move tokens. */
export const OTHER_MESSAGES: readonly string[] = [
  'Mail(address from,string contents)',
  'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)',
  'PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)',
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  'Order(address sellToken,address buyToken,uint256 sellAmount,bytes32 appData,string kind)',
  'Empty()',
];

/** Returns typed data of such types, with an empty message. */
export function typedDataOf(encoded: string): JsonObject {
  const structs = [...encoded.matchAll(/(\w+)\(([^)]*)\)/g)].map(([, name = '', fields = '']) => {
    const parts = fields === '' ? [] : fields.split(',').map((field) => field.split(' '));
    return [name, parts.map(([type = '', field = '']) => ({ name: field, type }))] as const;
  });
  const types = Object.fromEntries([...structs, ['EIP712Domain', [{ name: 'salt', type: 'bytes32' }]]]);
  return { types, primaryType: structs[0]?.[0] ?? '', domain: {}, message: {} };
}
