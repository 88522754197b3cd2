import { parseUnits } from '../../../core/model/amount.js';
import { chainIn } from './chain-words.js';

/** One payment that a message requests. */
export interface Payment {
  /** A decimal number. */
  readonly amount: string;
  /** The symbol of a token; undefined: the chain's own currency. */
  readonly token: string | undefined;
  /** The amount of the native currency as `stage_transaction` takes it. */
  readonly value: string;
  /** An address or a name with a dot. */
  readonly to: string;
}

/** The payments that a message requests, or what is missing. */
export type PaymentWish =
  | {
      readonly kind: 'pay';
      readonly payments: readonly Payment[];
      /** Absent: the chain of the wallet. */
      readonly chainId: number | undefined;
    }
  | { readonly kind: 'unclear'; readonly words: string };

const MAX_PAYMENTS = 8;
const VERB = String.raw`\b(?:send|transfer|pay)\b`;
/** At the beginning of a clause, or after words that make a request of it. */
const REQUEST = new RegExp(
  String.raw`(?:^|[.!?,;:\n]\s*|\b(?:please|and|then|now|also|you|me|to|let'?s|just|hey|hi|hello|ok|okay) )${VERB}(?<rest>[^]*)$`,
  'i',
);
const NO_REQUEST = new RegExp(
  String.raw`\b(?:how|why|when|who|what|did|does|don'?t|not|never|cannot|can'?t|should|if)\b[^.!;\n]*?${VERB}`,
  'i',
);
const NUMBER = String.raw`(?<![\w.,-])(?<amount>\d{1,78}(?:,\d{3})*(?:\.\d{1,78})?|\.\d{1,78})(?![\dx]|[.,]\d)`;
const UNIT = String.raw`(?:\s*(?!(?:to|on)\b)(?<unit>[a-z][a-z\d]{1,11})\b)?`;
const CHAIN = String.raw`(?:\s+on(?:\s+\w+){1,4}?)?`;
/** “0.01 ETH to 0x…”, “5 on base to vitalik.eth”. */
const TO_LAST = new RegExp(
  String.raw`${NUMBER}${UNIT}${CHAIN}\s+to\s+(?:the\s+)?(?:(?:address|wallet)\s+)?(?<to>\S+)`,
  'gi',
);
/** “vitalik.eth 0.01 ETH”. */
const TO_FIRST = new RegExp(
  String.raw`(?<to>\b0x[0-9a-f]+|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+)\s+${NUMBER}${UNIT}`,
  'giu',
);
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const NAME = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+$/u;
/** Symbols of native currencies. Other units are taken for tokens. */
const NATIVE = new Set(['eth', 'matic', 'pol', 'bnb', 'avax', 'xdai']);
const ON = /\bon\s+(?:the\s+)?(?:(?:chain|network)\s+)?(?<name>[\p{L}\d][\p{L}\d -]{0,40})/iu;
const EXAMPLE = 'Write, for example: send 0.01 ETH to vitalik.eth';

/**
 * Extracts payments from plain language ("send 0.01 ETH to 0x…", "pay vitalik.eth 5 USDC on base").
 * @param text of bounded length
 * @param chains the ids of the chains by name, in lower case
 * @returns undefined when the message requests none
 */
export function paymentsIn(text: string, chains: ReadonlyMap<string, number>): PaymentWish | undefined {
  const rest = REQUEST.exec(text)?.groups?.rest;
  if (rest === undefined || NO_REQUEST.test(text)) return undefined;
  const found = [...rest.matchAll(TO_LAST)];
  const orders = (found.length > 0 ? found : [...rest.matchAll(TO_FIRST)]).map(({ groups }) => ({
    amount: groups?.amount ?? '',
    unit: groups?.unit,
    to: (groups?.to ?? '').replace(/[.,;:!?"')\]]+$/, ''),
  }));
  if (orders.length === 0)
    return isAboutMoney(rest) ? unclear('I need an amount and a recipient.') : undefined;
  if (orders.length > MAX_PAYMENTS)
    return unclear(`I prepare at most ${String(MAX_PAYMENTS)} payments at once.`);

  const stranger = orders.find(({ to }) => !ADDRESS.test(to) && !NAME.test(to));
  if (stranger !== undefined) {
    const { to, unit } = stranger;
    const isMoney = to.startsWith('0x') || (unit !== undefined && isCurrency(unit));
    return isMoney ? unclear(`“${to}” is neither an address nor a name such as vitalik.eth.`) : undefined;
  }
  const chain = chainNamed(rest, chains);
  if (chain === 'unknown')
    return unclear('I do not know that chain: give its number, such as “on chain 8453”.');
  return { kind: 'pay', payments: orders.map(paymentOf), chainId: chain };
}

function paymentOf({
  amount: given,
  unit = '',
  to,
}: {
  readonly amount: string;
  readonly unit: string | undefined;
  readonly to: string;
}): Payment {
  const digits = given.replaceAll(',', '');
  const amount = digits.startsWith('.') ? `0${digits}` : digits;
  const symbol = unit.toLowerCase();
  if (symbol === 'gwei') {
    const wei = parseUnits(amount, 9);
    return {
      amount,
      token: undefined,
      to,
      value: wei === undefined ? `${amount} gwei` : `${String(wei)} wei`,
    };
  }
  if (symbol === '' || symbol === 'ether') return { amount, token: undefined, to, value: amount };
  if (symbol === 'wei' || NATIVE.has(symbol))
    return { amount, token: undefined, to, value: `${amount} ${unit}` };
  return { amount, token: unit.toUpperCase(), to, value: amount };
}

/** The chain after "on". Undefined: none is named. */
function chainNamed(text: string, chains: ReadonlyMap<string, number>): number | 'unknown' | undefined {
  const known = chainIn(text, 'id');
  if (typeof known === 'number') return known;
  const said = ON.exec(text)?.groups?.name?.toLowerCase();
  if (said === undefined) return undefined;
  const [, id] = [...chains].find(([name]) => said === name || said.startsWith(`${name} `)) ?? [];
  return id ?? 'unknown';
}

function isAboutMoney(text: string): boolean {
  return (
    /\b0x[0-9a-f]{8,}|\b[\p{L}\p{N}-]+\.eth\b/iu.test(text) || /\d\s*(?:eth|ether|wei|gwei)\b/i.test(text)
  );
}

/** Upper-case units of a few letters are symbols, also unknown ones. */
function isCurrency(unit: string): boolean {
  return (
    /^(?:ether|g?wei)$/i.test(unit) || NATIVE.has(unit.toLowerCase()) || /^[A-Z][A-Z\d]{2,7}$/.test(unit)
  );
}

function unclear(reason: string): PaymentWish {
  return { kind: 'unclear', words: `${reason} ${EXAMPLE}` };
}
