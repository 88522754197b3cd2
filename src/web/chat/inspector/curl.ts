import type { Exchange } from '../../../client/types.js';

/** Headers that carry an App key; their values are never shown. */
const KEY_HEADERS = new Set(['service-app-key', 'x-api-key']);

/** Formats a request as a curl command, with the App key as `$APP_KEY`. */
export function curlLine({ method, url, headers, body }: Exchange, origin: string): string {
  const isStream = Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'accept' && value === 'text/event-stream',
  );
  const parts = [isStream ? 'curl -sN' : 'curl -s'];
  if (method !== (body === undefined ? 'GET' : 'POST')) parts.push(`-X ${method}`);
  for (const [name, value] of Object.entries(headers)) {
    parts.push(
      KEY_HEADERS.has(name.toLowerCase()) ? `-H "${name}: $APP_KEY"` : `-H ${quoted(`${name}: ${value}`)}`,
    );
  }
  if (body !== undefined) parts.push(`-d ${quoted(body)}`);
  parts.push(quoted(new URL(url, origin).href));
  return parts.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
