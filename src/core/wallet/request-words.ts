import { cutText } from '../model/text.js';
import {
  VERDICT_WORDS,
  type PendingRequest,
  type WalletClaim,
  type WalletRequest,
  type WalletVerification,
} from '../model/wallet-request.js';

const MAX_LABEL = 120;
const MAX_ERROR = 300;
/** Longer signatures, which only contract wallets make, are left out of the words: in hex digits. */
const MAX_SHOWN_PROOF = 2_000;

type Named = Pick<PendingRequest, 'id' | 'label' | 'payload'>;

/**
 * Returns a label as one line. Round brackets become square ones, because records put labels between round brackets and
 * a label must not seem to end there.
 */
export function tameLabel(text: string): string {
  return oneLine(text, MAX_LABEL).replaceAll('(', '[').replaceAll(')', ']');
}

/** Returns the wallet's own words as one line without quotation marks. */
export function tameError(text: string): string {
  return oneLine(text, MAX_ERROR).replaceAll('"', "'");
}

/** States what a wallet reported, for the `system` message that begins the turn. */
export function claimWords(
  requests: readonly Named[],
  { claim, isMalformed }: { readonly claim: WalletClaim; readonly isMalformed: boolean },
): string {
  const names = `${requests.length === 1 ? 'request' : 'requests'} ${listed(requests.map(nameOf))}`;
  const quoted = claim.error === null ? '' : ` The wallet's words: "${claim.error}".`;
  const noun = nounOf(requests[0]);
  const noProof = `no valid ${noun === 'transaction' ? 'transaction hash' : 'signature'}`;
  if (claim.proof !== null) {
    const outcome = claim.status === 'success' ? 'success' : 'a failure';
    return `The wallet reported ${outcome} for ${names}, ${noun} ${shownProof(claim.proof)}; not verified yet.${quoted}`;
  }
  if (claim.status === 'success')
    return `The wallet reported success for ${names} with ${noProof}; not verified yet.${quoted}`;
  const why = isMalformed ? noProof : 'nothing was signed';
  return `The wallet reported ${names} as rejected: ${why}.${quoted}`;
}

/** States the verdict on a request, for the assistant. Undefined: there is none. */
export function verdictWords(request: WalletRequest): string | undefined {
  const { claim, verification } = request;
  if (verification === null) return undefined;
  const proof = claim?.proof ?? null;
  const facts = proof === null ? verification.detail : `${nounOf(request)} ${shownProof(proof)}`;
  return `Wallet request ${nameOf(request)}: ${VERDICT_WORDS[verification.verdict]}. ${capital(facts)}${
    proof === null ? '' : detailOf(verification)
  }.`;
}

/**
 * True for text that a client takes for `claimWords` or `verdictWords`. The patterns are those of
 * `src/client/wallet-words.ts`.
 */
export function looksLikeWords(text: string): boolean {
  return text.startsWith('The wallet reported ') || /^Wallet request \d{1,15} \([^()]*\): ./m.test(text);
}

function detailOf({ verdict, detail }: WalletVerification): string {
  return verdict === 'confirmed' || verdict === 'failed' ? ` ${detail}` : `: ${detail}`;
}

/** Names a request by its id and label. */
export function nameOf({ id, label }: Pick<Named, 'id' | 'label'>): string {
  return `${String(id)} (${label})`;
}

/** Returns hex of any length in at most `MAX_SHOWN_PROOF` characters. */
export function shownProof(hex: string): string {
  return hex.length <= MAX_SHOWN_PROOF ? hex : `of ${String((hex.length - 2) / 2)} bytes`;
}

function nounOf(request: Pick<Named, 'payload'> | undefined): string {
  return request?.payload.kind === 'signature' ? 'signature' : 'transaction';
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Joins lines and removes control and format characters, which could reorder or hide text, and lone surrogates. */
function oneLine(text: string, length: number): string {
  const line = text.slice(0, 8 * length).replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ');
  return cutText(line.trim(), length);
}
