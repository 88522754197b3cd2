import type { Exchange } from '../../../client/types.js';

/** Headers that carry an App key or a proof, and what is shown instead of their values. */
const HIDDEN: ReadonlyMap<string, string> = new Map([
  ['service-app-key', '$APP_KEY'],
  ['x-api-key', '$APP_KEY'],
  ['x-wallet-proof', '$WALLET_PROOF'],
]);

/** Formats a request as a curl command, with the App key as `$APP_KEY`, and a wallet's proof likewise. */
export function curlLine({ method, url, headers, body }: Exchange, origin: string): string {
  const isStream = Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'accept' && value === 'text/event-stream',
  );
  const parts = [isStream ? 'curl -sN' : 'curl -s'];
  if (method !== (body === undefined ? 'GET' : 'POST')) parts.push(`-X ${method}`);
  for (const [name, value] of Object.entries(headers)) {
    const shown = HIDDEN.get(name.toLowerCase());
    parts.push(shown === undefined ? `-H ${quoted(`${name}: ${value}`)}` : `-H "${name}: ${shown}"`);
  }
  if (body !== undefined) parts.push(`-d ${quoted(body)}`);
  parts.push(quoted(new URL(url, origin).href));
  return parts.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
