import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PendingRequest } from '../../client/index.js';
import { formatUnits } from '../../core/model/amount.js';
import { accountActionIn } from '../../core/wallet/account-actions.js';
import { framedLines, quotedLines } from './untrusted-text.js';

type PendingTransaction = Extract<PendingRequest, { kind: 'transaction' }>;
type PendingSignature = Extract<PendingRequest, { kind: 'signature' }>;

/** Maximum length of calldata in a list, and of data in a command, in characters. */
const MAX_DATA = 66;
const MAX_ARGUMENT = 2_000;

/**
 * Describes a request: action, recipient, amount and chain in one line, then the assistant's label. The label is
 * untrusted, so each of its lines is in quotation marks and cannot look like the facts.
 */
export function requestLines(request: PendingRequest): readonly string[] {
  const { id, label } = request;
  const facts = `${String(id)}  ${factsOf(request)}`;
  return label === ''
    ? [facts]
    : [facts, "   the assistant's description:", ...quotedLines(label).map((line) => `   ${line}`)];
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
 * Returns lines that say what the user's own wallet has to sign: a `cast` command and JSON. Stores typed data, and data
 * that is too long for the screen, in files that only their owner can read.
 */
export async function signingLines(request: PendingRequest): Promise<readonly string[]> {
  const lines = await (request.kind === 'transaction' ? transactionLines(request) : signatureLines(request));
  const id = String(request.id);
  const report = request.kind === 'transaction' ? `/tx done ${id} HASH` : `/tx signed ${id} SIGNATURE`;
  return [
    ...requestLines(request),
    ...lines,
    ...warningLines(request),
    `Add how your wallet signs, such as --ledger or --account NAME. Then: ${report}`,
  ];
}

async function transactionLines(request: PendingTransaction): Promise<readonly string[]> {
  const { id, from, to, value, data, chainId } = request;
  const transaction = {
    ...(from !== null && { from }),
    ...{ to, value: `0x${value.toString(16)}`, data, chainId: `0x${chainId.toString(16)}` },
  };
  const call = data === '0x' ? '' : ` ${await argumentOf(id, data)}`;
  const json = JSON.stringify(transaction);
  return [
    `cast send ${to}${call} --value ${String(value)} --chain ${String(chainId)}${fromFlag(from)} --rpc-url "$ETH_RPC_URL"`,
    data.length <= MAX_ARGUMENT ? json : `The transaction as JSON: ${await stored(id, 'json', json)}`,
  ];
}

async function signatureLines(request: PendingSignature): Promise<readonly string[]> {
  const { id, from, typedData, text } = request;
  if (typedData === null) {
    // In hex, because it is exact and needs no quoting in a shell.
    const hex = `0x${Buffer.from(text ?? '', 'utf8').toString('hex')}`;
    return [
      'What you would sign, a text as the assistant gave it:',
      ...framedLines([JSON.stringify(text)], 'the command, in hex'),
      `cast wallet sign ${await argumentOf(id, hex)}${fromFlag(from)}`,
    ];
  }
  const json = JSON.stringify(typedData, null, 2);
  const file = await stored(id, 'json', json);
  return [
    'What you would sign, with names and values as the assistant gave them:',
    ...framedLines(json.split('\n'), 'the file of the command'),
    `cast wallet sign --data --from-file ${file}${fromFlag(from)}`,
  ];
}

/** Returns hex as an argument of a command. Puts long hex in a file, because it would push the facts off the screen. */
async function argumentOf(id: number, hex: string): Promise<string> {
  return hex.length <= MAX_ARGUMENT ? hex : `"$(cat ${await stored(id, 'hex', hex)})"`;
}

/** Stores a text in a new file that only its owner can read. Returns its path, quoted for a shell. */
async function stored(id: number, type: 'json' | 'hex', text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'diptych-'));
  await chmod(folder, 0o700);
  const file = join(folder, `request-${String(id)}.${type}`);
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  return `'${file.replaceAll("'", String.raw`'\''`)}'`;
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
