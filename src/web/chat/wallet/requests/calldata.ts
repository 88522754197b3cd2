/** A call of a token that moves or gives away tokens (ERC-20). */
export interface TokenCall {
  readonly action: 'transfer' | 'transferFrom' | 'approve';
  readonly to: string;
  /** The owner of the tokens; null: the sender. */
  readonly from: string | null;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

const WORD = 64;
const SELECTORS = {
  a9059cbb: { action: 'transfer', words: 2 },
  '095ea7b3': { action: 'approve', words: 2 },
  '23b872dd': { action: 'transferFrom', words: 3 },
} as const;

/** Amounts from here on are shown as unlimited: no token has as many units. */
export const UNLIMITED = 1n << 255n;

/** Reads calldata of the well-known calls of tokens; null: another call. The contract may still be no token. */
export function readTokenCall(data: string): TokenCall | null {
  const digits = data.slice(2).toLowerCase();
  const known = Object.entries(SELECTORS).find(([selector]) => digits.startsWith(selector));
  if (known === undefined) return null;
  const { action, words } = known[1];
  if (digits.length !== 8 + words * WORD) return null;
  const parts = Array.from({ length: words }, (_, index) =>
    digits.slice(8 + index * WORD, 8 + (index + 1) * WORD),
  );
  const addresses = parts.slice(0, -1).map((part) => `0x${part.slice(24)}`);
  if (!parts.slice(0, -1).every((part) => part.startsWith('0'.repeat(24)))) return null;
  const amount = BigInt(`0x${parts.at(-1) ?? '0'}`);
  const [first = '', second] = addresses;
  return action === 'transferFrom'
    ? { action, from: first, to: second ?? '', amount }
    : { action, from: null, to: first, amount };
}
