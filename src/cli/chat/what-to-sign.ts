import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PendingRequest } from '../../client/index.js';
import { formatUnits } from '../../core/model/amount.js';
import { accountActionIn } from '../../core/wallet/account-actions.js';

type PendingTransaction = Extract<PendingRequest, { kind: 'transaction' }>;
type PendingSignature = Extract<PendingRequest, { kind: 'signature' }>;

/** The longest calldata in a list, in characters. */
const MAX_DATA = 66;

/** Describes a request in one line: what, to whom, how much, on which chain, then the assistant's label for it. */
export function requestLine(request: PendingRequest): string {
  const { id, label } = request;
  // Last and in quotation marks, so that no label looks like the facts: a stranger may have led the assistant.
  const words = label === '' ? '' : `; the assistant's words: "${label.replaceAll('"', "'")}"`;
  return visible(`${String(id)}  ${factsOf(request)}${words}`);
}

function factsOf(request: PendingRequest): string {
  const chain = `chain ${String(request.chainId)}`;
  if (request.kind === 'signature')
    return `sign ${request.typedData === null ? 'a text' : 'typed data (EIP-712)'}, ${chain}`;
  const { to, value, data } = request;
  const shown =
    data.length > MAX_DATA ? `${data.slice(0, MAX_DATA)}… (${String(data.length / 2 - 1)} bytes)` : data;
  const call = data === '0x' ? '' : `, data ${shown}`;
  return `send ${amountOf(value)} to ${to}, ${chain}${call}`;
}

/**
 * Returns what a wallet of one's own has to sign, line by line: a `cast` command and JSON. Stores typed data in a file
 * of its own that only its owner can read.
 */
export async function signingLines(request: PendingRequest): Promise<readonly string[]> {
  const lines = request.kind === 'transaction' ? transactionLines(request) : await signatureLines(request);
  const id = String(request.id);
  const report = request.kind === 'transaction' ? `/tx done ${id} HASH` : `/tx signed ${id} SIGNATURE`;
  return [
    requestLine(request),
    ...lines,
    ...warningLines(request),
    `Add how your wallet signs, such as --ledger or --account NAME. Then: ${report}`,
  ];
}

function transactionLines({ from, to, value, data, chainId }: PendingTransaction): string[] {
  const transaction = {
    ...(from !== null && { from }),
    ...{ to, value: `0x${value.toString(16)}`, data, chainId: `0x${chainId.toString(16)}` },
  };
  const call = data === '0x' ? '' : ` ${data}`;
  return [
    `cast send ${to}${call} --value ${String(value)} --chain ${String(chainId)}${fromFlag(from)} --rpc-url "$ETH_RPC_URL"`,
    JSON.stringify(transaction),
  ];
}

async function signatureLines({ id, from, typedData, text }: PendingSignature): Promise<string[]> {
  if (typedData === null) {
    // In hex, because it is exact and needs no quoting in a shell.
    const hex = Buffer.from(text ?? '', 'utf8').toString('hex');
    return [visible(JSON.stringify(text)), `cast wallet sign 0x${hex}${fromFlag(from)}`];
  }
  const json = JSON.stringify(typedData, null, 2);
  const folder = await mkdtemp(join(tmpdir(), 'diptych-'));
  await chmod(folder, 0o700);
  const file = join(folder, `request-${String(id)}.json`);
  await writeFile(file, `${json}\n`, { mode: 0o600 });
  return [
    ...json.split('\n').map(visible),
    `cast wallet sign --data --from-file '${file.replaceAll("'", String.raw`'\''`)}'${fromFlag(from)}`,
  ];
}

/** Says what a signature may allow others to do. */
function warningLines(request: PendingRequest): readonly string[] {
  if (request.kind === 'transaction') return [];
  if (accountActionIn(request) !== undefined)
    return ['Its signature may let others act for a smart account of yours, such as a Safe.'];
  return request.typedData === null ? [] : ['Its signature can move funds as a transaction does.'];
}

function fromFlag(from: string | null): string {
  return from === null ? '' : ` --from ${from}`;
}

/** The client does not know the currency of a chain; nearly all have 18 decimals. */
function amountOf(wei: bigint): string {
  return `${String(wei)} wei (${formatUnits(wei, 18)} at 18 decimals)`;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Escapes characters that are invisible or reorder text, so that what is read is what is signed. */
function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
