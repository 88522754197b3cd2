import type { ChatMessage } from './types.js';

const REPORT = 'The wallet reported ';
/** A line of a verdict. Labels have no round brackets. */
const VERDICT = /^Wallet request (\d{1,15}) \([^()]*\): (.+)$/gm;

/** What the service found about a wallet request. */
export interface WalletVerdict {
  readonly id: number;
  /** The verdict and its facts, such as `confirmed. Transaction 0x… in block 5.` */
  readonly words: string;
}

/** True for a `system` message that begins a turn in place of a `user` message: what a wallet reported. */
export function isWalletReport({ sender, content }: Pick<ChatMessage, 'sender' | 'content'>): boolean {
  return sender === 'system' && content.startsWith(REPORT);
}

/** True for a message that begins a turn. */
export function beginsTurn(message: Pick<ChatMessage, 'sender' | 'content'>): boolean {
  return message.sender === 'user' || isWalletReport(message);
}

/** Returns the verdicts in the text of a `system` message, at most one a request. */
export function verdictsIn(content: string): readonly WalletVerdict[] {
  return [...content.matchAll(VERDICT)].map(([, id = '', words = '']) => ({ id: Number(id), words }));
}

/** True for a `system` message about wallet requests. Others report a failed turn. */
export function isOfWallet(content: string): boolean {
  return content.startsWith(REPORT) || verdictsIn(content).length > 0;
}
