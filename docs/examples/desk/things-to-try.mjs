import { randomUUID } from 'node:crypto';

/** What to paste into another terminal. */
export function thingsToTry({ url, node, key, wallet, payee }) {
  const current = `-H "X-Session-Id: $S" -H "SERVICE-APP-KEY: $K"`;
  const legacy = `-H "X-Session-Id: $S" -H "X-API-Key: $K"`;
  const say = (message, more = '') =>
    `curl -s -X POST "$URL/api/chat?app=desk${more}&message=${encodeURIComponent(message)}" ${current} -H "Prefer: wait=30"`;
  const call = (name, args) =>
    `curl -s "$URL/api/tools" ${current} -d '${JSON.stringify({ name, args, app: 'desk' })}'`;
  const stream = (text) =>
    `curl -sN "$URL/api/thread/chat?app=desk" ${legacy} -d '${JSON.stringify({ text })}'`;
  return `The App desk is on ${url}, its chain on ${node}. Ctrl-C ends both.

In another terminal, first:
URL=${url}
K=${key}
S=${randomUUID()}
W=${wallet}
NODE=${node}

The current surface: a wallet is bound; prices come from a contract and from a web service
${say('What is my balance?', '&public_key=$W')}
${say('Price of ETH and BTC')}

The legacy surface, in the same session: it knows the wallet
${stream('What is my balance?')}
${stream('Price of ETH')}

A tool server, and a tool of our own, by the words of the demo rig
${stream('/tool everything.echo {"message":"Hello"}')}
${stream('/tool quote_order {"amount":2,"price":3150.12}')}

A payment, from words to the chain: the assistant asks the wallet, the node's account signs, the service verifies
${say(`Send 0.01 ETH to ${payee}`)}
node docs/examples/desk/wallet.mjs $URL $NODE $S
${say(`Send 5 DUSD to ${payee}`)}
node docs/examples/desk/wallet.mjs $URL $NODE $S
${say(`Send 0.01 ETH to ${wallet}`)}

Tools without the assistant
${call('get_token_balance', { token: 'DUSD' })}
${call('everything.get-sum', { a: 2, b: 40 })}
`;
}
