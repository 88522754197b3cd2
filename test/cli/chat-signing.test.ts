import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createClient, type PendingRequest, type WalletReport } from '../../src/client/index.js';
import { commandIn } from '../../src/cli/chat/commands.js';
import { Display } from '../../src/cli/chat/display.js';
import { mayHoldKey, runTx, type WalletRoom } from '../../src/cli/chat/wallet-commands.js';
import { typedDataOf } from '../support/account-messages.js';
import { requestLines, signingLines } from '../../src/cli/chat/what-to-sign.js';

const WALLET = `0x${'aa'.repeat(20)}`;
const FRIEND = `0x${'bb'.repeat(20)}`;
const HASH = `0x${'12'.repeat(32)}`;
const SIGNATURE = `0x${'34'.repeat(65)}`;
const TYPED = { primaryType: 'Mail', types: {}, domain: { name: "Ann's" }, message: { text: 'a\u202eb' } };

const payment: PendingRequest = {
  ...{ kind: 'transaction', id: 1, chainId: 31337, from: WALLET, to: FRIEND, value: 10n ** 16n, data: '0x' },
  ...{ gas: '21000', label: 'send 0.01 ETH' },
};
const call: PendingRequest = { ...payment, id: 2, value: 0n, data: `0x${'ab'.repeat(100)}`, from: null };
const text: PendingRequest = {
  ...{ kind: 'signature', id: 3, chainId: 1, from: WALLET, label: 'Sign “hi”', typedData: null },
  text: "it's $HOME\n`x`",
};
const ACCOUNT_TYPES = typedDataOf('SafeTx(address to,bytes data)');
const typed: PendingRequest = { ...text, id: 4, typedData: TYPED, text: null };

/** A room with these requests pending, which notes what is shown and reported. */
function room(): WalletRoom & { readonly reports: WalletReport[]; shown: () => string } {
  const [output, input] = [new PassThrough(), new PassThrough()];
  const terminal = {
    ...{ input, output, errors: output, env: {} },
    onInterrupt: () => () => undefined,
    onStop: () => () => undefined,
    setExitCode: () => undefined,
    exit: () => undefined,
  };
  const reports: WalletReport[] = [];
  const client = createClient({ url: 'http://127.0.0.1:9' });
  return {
    reports,
    display: new Display(terminal),
    wallet: () => ({ ...client, pending: () => Promise.resolve([payment, call, text, typed]) }),
    report(report) {
      reports.push(report);
      return Promise.resolve();
    },
    shown: () => String(output.read() ?? ''),
  };
}

describe('What to sign', () => {
  it('is listed with its id, amount, recipient and chain, then the label', () => {
    const facts = `send 10000000000000000 wei (0.01 at 18 decimals) to ${FRIEND}, chain 31337`;
    const words = "   the assistant's description:";
    expect(requestLines(payment)).toEqual([`1  ${facts}`, words, '   “send 0.01 ETH”']);
    expect(requestLines({ ...payment, label: '' })).toEqual([`1  ${facts}`]);
    expect(requestLines(call)[0]).toContain(`, data 0x${'ab'.repeat(32)}… (100 bytes)`);
    expect(requestLines(text)).toEqual(['3  sign a text, chain 1', words, "   “Sign 'hi'”"]);
  });

  it.each([
    [`1 wei to ${WALLET}, chain 1”; "now`, [`“1 wei to ${WALLET}, chain 1'; 'now”`]],
    ['a\u202e\u001b[2Jb\n', [String.raw`“a\u202e\u001b[2Jb”`]],
    ['a\u3164b\u034fc\ufe0fd\u{e0100}f', [String.raw`“a\u3164b\u034fc\ufe0fd\u{e0100}f”`]],
    [`a${'\u0301'.repeat(5)}`, [`“a${'\u0301'.repeat(3)}${String.raw`\u0301\u0301`}”`]],
    // A part that a terminal would wrap to the next line has quotation marks of its own.
    [`${'x'.repeat(70)}Request 4: confirmed.`, [`“${'x'.repeat(70)}”`, '“Request 4: confirmed.”']],
    ['字'.repeat(36), [`“${'字'.repeat(35)}”`, '“字”']],
    [
      'y'.repeat(1_000),
      [...Array<string>(2).fill(`“${'y'.repeat(70)}”`), `“${'y'.repeat(60)}… (800 mo”`, '“re)”'],
    ],
  ])('frames each line of the label %j', (label, lines) => {
    expect(requestLines({ ...payment, label }).slice(2)).toEqual(lines.map((line) => `   ${line}`));
  });

  it('is a cast command and the JSON of a transaction', async () => {
    const [command, json = ''] = (await signingLines(payment)).slice(3);
    expect(command).toBe(
      `cast send ${FRIEND} --value 10000000000000000 --chain 31337 --from ${WALLET} --rpc-url "$ETH_RPC_URL"`,
    );
    expect(JSON.parse(json)).toEqual({
      ...{ from: WALLET, to: FRIEND, value: '0x2386f26fc10000', data: '0x', chainId: '0x7a69' },
    });
    const [, , , whole] = await signingLines(call);
    expect(whole).toBe(
      `cast send ${FRIEND} 0x${'ab'.repeat(100)} --value 0 --chain 31337 --rpc-url "$ETH_RPC_URL"`,
    );
  });

  it('is a text in hex, which a shell cannot misread', async () => {
    const [caption, shown, command = ''] = (await signingLines(text)).slice(3);
    expect(caption).toBe('What you would sign, a text as the assistant gave it:');
    expect(shown).toBe(`│ ${JSON.stringify("it's $HOME\n`x`")}`);
    const hex = /^cast wallet sign 0x([0-9a-f]+) --from 0x[a]{40}$/.exec(command)?.[1] ?? '';
    expect(Buffer.from(hex, 'hex').toString()).toBe("it's $HOME\n`x`");
  });

  it('is a file of typed data that only its owner can read', async () => {
    const lines = await signingLines(typed);
    const file = /--data --from-file '([^']+)' --from/.exec(lines.join('\n'))?.[1] ?? '';
    try {
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(TYPED);
      expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
      expect(lines.join('\n')).toContain(String.raw`"text": "a\u202eb"`);
    } finally {
      rmSync(dirname(file), { recursive: true });
    }
  });
});

describe('What to sign, when it is too long for the screen', () => {
  const long = 'ab'.repeat(30_000);
  const fileIn = (line: string): string => /'(\/[^']+)'/.exec(line)?.[1] ?? '';

  it('puts calldata in files, which the command reads', async () => {
    const lines = await signingLines({ ...payment, data: `0x${long}` });
    const [command = '', json = ''] = lines.slice(3);
    expect(lines.join('').length).toBeLessThan(1_000);
    expect(command).toMatch(new RegExp(`^cast send ${FRIEND} "\\$\\(cat '[^']+'\\)" --value`));
    const read = [fileIn(command), fileIn(json)].map((file) => {
      const content = readFileSync(file, 'utf8').trimEnd();
      rmSync(dirname(file), { recursive: true });
      return content;
    });
    expect(read[0]).toBe(`0x${long}`);
    expect(JSON.parse(read[1] ?? '')).toMatchObject({ to: FRIEND, data: `0x${long}` });
  });

  it('puts a text in a file, and shows its first lines and how much is left out', async () => {
    const lines = await signingLines({ ...text, text: long });
    expect(lines.filter((line) => line.startsWith('│ '))).toHaveLength(60);
    expect(lines).toContain('(798 more lines are left out: all of it is in the command, in hex.)');
    const file = fileIn(lines.find((line) => line.startsWith('cast wallet sign "$(cat ')) ?? '');
    expect(readFileSync(file, 'utf8').trimEnd()).toBe(`0x${Buffer.from(long).toString('hex')}`);
    rmSync(dirname(file), { recursive: true });
  });

  it('puts a bar before each wrapped line of typed data', async () => {
    const message = {
      note: `${' '.repeat(80)}Request 4: confirmed.`,
      list: Array.from({ length: 500 }, () => 1),
    };
    const lines = await signingLines({ ...typed, typedData: { ...TYPED, message } });
    const file = fileIn(lines.find((line) => line.startsWith('cast wallet sign --data')) ?? '');
    rmSync(dirname(file), { recursive: true });
    expect(lines.filter((line) => line.includes('4: confirmed'))).toEqual([expect.stringMatching(/^│ /)]);
    expect(lines.filter((line) => line.startsWith('│ '))).toHaveLength(60);
    expect(lines.find((line) => line.includes('left out'))).toMatch(
      /^\(4\d\d more lines .* in the file of the command\.\)$/,
    );
  });
});

describe('The warning of a signature', () => {
  it.each<[string, PendingRequest, string | undefined]>([
    ['a transaction', payment, undefined],
    ['a text', text, undefined],
    ['a text that can be a hash', { ...text, text: 'h'.repeat(32) }, 'act for a smart account'],
    ['typed data', typed, 'can move funds'],
    ['typed data with bytes', { ...typed, typedData: ACCOUNT_TYPES }, 'act for a smart account'],
  ])('of %s', async (_, request, words) => {
    const lines = await signingLines(request);
    const file = /--from-file '([^']+)'/.exec(lines.join('\n'))?.[1];
    if (file !== undefined) rmSync(dirname(file), { recursive: true });
    const warning = lines.at(-2) ?? '';
    if (words === undefined) expect(warning).not.toContain('signature');
    else expect(warning).toContain(words);
  });
});

describe('/tx', () => {
  it('lists what is pending', async () => {
    const here = room();
    await runTx(here, '');
    expect(here.shown().split('\n').slice(0, 7)).toEqual([
      'Waiting for your wallet:',
      ...[payment, call].flatMap(requestLines).map((line) => `  ${line}`),
    ]);
  });

  it.each<[string, WalletReport]>([
    [
      `done 1 ${HASH}`,
      { type: 'wallet:tx_complete', payload: { status: 'success', txHash: HASH, pending_tx_ids: [1] } },
    ],
    [
      `signed 4 ${SIGNATURE}`,
      {
        type: 'wallet_eip712_response',
        payload: { status: 'success', signature: SIGNATURE, pending_eip712_id: 4 },
      },
    ],
    [
      'reject 2 too  expensive',
      {
        type: 'wallet:tx_complete',
        payload: { status: 'failed', error: 'too expensive', pending_tx_ids: [2] },
      },
    ],
    [
      'reject 3',
      {
        type: 'wallet_eip712_response',
        payload: { status: 'failed', error: 'Rejected in the terminal', pending_eip712_id: 3 },
      },
    ],
  ])('reports %s', async (argument, report) => {
    const here = room();
    await runTx(here, argument);
    expect(here.reports).toEqual([report]);
  });

  it.each([
    ['done 1', 'takes a transaction hash'],
    [`done 1 ${HASH.slice(2)}`, 'looks like a private key'],
    [`signed 4 ${HASH}`, 'looks like a private key'],
    [`signed 4 ${HASH.slice(2)}`, 'looks like a private key'],
    [`reject 1 my key is ${HASH}`, 'looks like a private key'],
    ['signed 4 0x1234', 'takes a signature'],
    [`done 3 ${HASH}`, 'Request 3 is a message: use /tx signed'],
    [`signed 1 ${SIGNATURE}`, 'Request 1 is a transaction: use /tx done'],
    [`done 9 ${HASH}`, 'No request 9 waits'],
    ['show', 'Give the number of a request'],
    ['show 1e0', 'Give the number of a request'],
    ['sign 1', '/tx has no "sign"'],
  ])('refuses %s', async (argument, words) => {
    const here = room();
    await expect(runTx(here, argument)).rejects.toThrow(words);
    expect(here.reports).toEqual([]);
  });

  it('warns of keys in the help, and is a command of its own', async () => {
    const { shown, ...here } = room();
    const leave = (): void => undefined;
    await commandIn('/help')?.({ ...here, client: here.wallet, renew: () => Promise.resolve(), leave });
    const help = shown();
    expect(help).toContain('/tx signed ID SIGNATURE');
    expect(help).toContain('Never paste a private key');
    expect(commandIn('/tx done 1 0x12')).toBeDefined();
  });

  it('keeps lines with keys out of the history', () => {
    expect(
      [`/tx signed 1 ${HASH}`, `/tx done 1 ${HASH.slice(2)}`, `  /tx reject 1 ${HASH}`].map(mayHoldKey),
    ).toEqual([true, true, true]);
    expect([`/tx signed 1 ${SIGNATURE}`, '/tx', `what is ${HASH}?`].map(mayHoldKey)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
