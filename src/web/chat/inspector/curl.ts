import { isObject, parseJson } from '../../../client/json.js';
import type { Exchange, JsonObject } from '../../../client/types.js';

/** Headers that carry an App key or a proof, and what is shown instead of their values. */
const HIDDEN: ReadonlyMap<string, string> = new Map([
  ['service-app-key', '$APP_KEY'],
  ['x-api-key', '$APP_KEY'],
  ['x-wallet-proof', '$WALLET_PROOF'],
]);

/** Mark the name of a variable that the shell fills in; no keyboard types them. */
const [BEGIN, END] = ['\u{f0000}', '\u{f0001}'];

/**
 * Formats a request as a curl command, with the App key as `$APP_KEY`; a wallet's proof, the client id and the values of
 * secrets likewise.
 */
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
  if (body !== undefined) parts.push(`-d ${quoted(maskedBody(body))}`);
  const address = new URL(url, origin).href;
  parts.push(quoted(address.replace(/([?&]client_id=)[^&#]+/, `$1${variable('CLIENT_ID')}`)));
  return parts.join(' ');
}

/** Replaces the client id and the values of secrets by variables. Any other body stays as it was sent. */
function maskedBody(body: string): string {
  const parsed = parseJson(body);
  if (!isObject(parsed) || parsed.client_id === undefined) return body;
  const masked: JsonObject = { ...parsed, client_id: variable('CLIENT_ID') };
  if (isObject(parsed.secrets)) {
    const names = Object.keys(parsed.secrets);
    masked.secrets = Object.fromEntries(names.map((name) => [name, variable(name.replaceAll(/\W/g, '_'))]));
  }
  return JSON.stringify(masked);
}

function variable(name: string): string {
  return `${BEGIN}${name}${END}`;
}

/** Quotes a text for a shell, except the variables in it. */
function quoted(text: string): string {
  const safe = text.replaceAll("'", String.raw`'\''`);
  return `'${safe.replaceAll(new RegExp(`${BEGIN}(\\w+)${END}`, 'gu'), `'"$$$1"'`)}'`;
}
