import { randomUUID } from 'node:crypto';
import { shown, signPending } from './wallet.mjs';

/** Pays the desk in a session of its own, from words to the verdict. Resolves with the conversation. */
export async function pay({ url, node, key, wallet, payee }) {
  const session = randomUUID();
  const headers = { 'X-Session-Id': session, 'SERVICE-APP-KEY': key, Prefer: 'wait=30' };
  const query = new URLSearchParams({
    ...{ app: 'desk', public_key: wallet },
    message: `Send 0.01 ETH to ${payee}`,
  });
  const answer = await fetch(`${url}/current/api/chat?${query}`, { method: 'POST', headers });
  const { messages } = await answer.json();
  return shown(messages) + (await signPending({ url, node, session }));
}
