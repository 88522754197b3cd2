/** A call of a token that moves or gives away tokens (ERC-20, ERC-721, ERC-1155). */
export interface TokenCall {
  readonly action: 'transfer' | 'transferFrom' | 'approve' | 'increaseAllowance' | 'setApprovalForAll';
  readonly to: string;
  /** The owner of the tokens; null: the sender. */
  readonly from: string | null;
  /** In the token's smallest unit. `setApprovalForAll`: 0 ends the approval. */
  readonly amount: bigint;
  /** False when the calldata has another length, or an address more than 20 bytes. Contracts may ignore both. */
  readonly isWellFormed: boolean;
}

const WORD = 64;
const ADDRESS = 40;
const SELECTORS = {
  a9059cbb: { action: 'transfer', words: 2 },
  '095ea7b3': { action: 'approve', words: 2 },
  '39509351': { action: 'increaseAllowance', words: 2 },
  // increaseApproval, its older name.
  d73dd623: { action: 'increaseAllowance', words: 2 },
  a22cb465: { action: 'setApprovalForAll', words: 2 },
  '23b872dd': { action: 'transferFrom', words: 3 },
} as const;

/** Allowances from here on are shown as unlimited: no token has as many units. */
export const UNLIMITED = 1n << 128n;

/** Reads calldata of the well-known calls of tokens; null: another call. The contract may still be no token. */
export function readTokenCall(data: string): TokenCall | null {
  const digits = data.slice(2).toLowerCase();
  const known = Object.entries(SELECTORS).find(([selector]) => digits.startsWith(selector));
  if (known === undefined) return null;
  const { action, words } = known[1];
  // Contracts read zeros after the end.
  const whole = digits.slice(8).padEnd(words * WORD, '0');
  const parts = Array.from({ length: words }, (_, index) => whole.slice(index * WORD, (index + 1) * WORD));
  const upper = parts.slice(0, -1).map((part) => part.slice(0, -ADDRESS));
  const [first = '', second = ''] = parts.map((part) => `0x${part.slice(-ADDRESS)}`);
  return {
    ...{ action, amount: BigInt(`0x${parts.at(-1) ?? '0'}`) },
    ...(action === 'transferFrom' ? { from: first, to: second } : { from: null, to: first }),
    isWellFormed: digits.length === 8 + words * WORD && upper.every((part) => /^0*$/.test(part)),
  };
}
