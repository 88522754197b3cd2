// Plays the wallet of the customer, whose account the node of the example holds:
//   node docs/examples/desk/wallet.mjs URL NODE SESSION
// A real client asks a wallet in its place, which shows the person what they sign.
import { realpathSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const JSON_BODY = { 'Content-Type': 'application/json' };

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [url, node, session] = process.argv.slice(2);
  process.stdout.write(await signPending({ url, node, session }));
}

/**
 * Sends every transaction that waits for the wallet, reports its hash, and waits for the turns in which the service
 * verifies them. Resolves with what was done and said, in lines.
 */
export async function signPending({ url, node, session }) {
  const headers = { ...JSON_BODY, 'X-Session-Id': session };
  const state = async () => (await fetch(`${url}/current/api/state`, { headers })).json();
  const { user_state, messages } = await state();
  let lines = '';
  for (const [id, { from, to, value, data, label }] of Object.entries(user_state?.pending_txs ?? {})) {
    // Exactly what was simulated: anything else would be verified as different.
    const transaction = { from, to, value: `0x${BigInt(value).toString(16)}`, data };
    const txHash = await call(node, 'eth_sendTransaction', [transaction]);
    lines += `The wallet sent request ${id} (${label}): ${txHash}\n`;
    const message = JSON.stringify({
      type: 'wallet:tx_complete',
      payload: { status: 'success', txHash, pending_tx_ids: [Number(id)] },
    });
    const body = JSON.stringify({ message });
    const { status } = await fetch(`${url}/current/api/system`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`the report was answered by ${status}`);
  }
  for (;;) {
    const { is_processing, messages: after } = await state();
    if (!is_processing) return lines + shown(after.slice(messages.length));
    await pause(100);
  }
}

/** The messages as lines. */
export function shown(messages) {
  const spoken = messages.filter(({ content }) => content !== '');
  return spoken.map(({ sender, content }) => `${sender}: ${content}\n`).join('');
}

async function call(node, method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const { result, error } = await (await fetch(node, { method: 'POST', headers: JSON_BODY, body })).json();
  if (error !== undefined) throw new Error(`the node refused ${method}: ${error.message}`);
  return result;
}
