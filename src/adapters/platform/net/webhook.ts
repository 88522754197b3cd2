import { request } from 'undici';
import { basicAuthorization } from './basic-authorization.js';
import { discard } from './responses.js';

/**
 * Posts JSON to a URL that the operator configured, which may contain a user name and password. Follows no redirect and
 * reads no response body.
 * @param headers besides `content-type`
 * @throws Error when the response is not a 2xx; messages do not contain the URL, which can hold a secret
 */
export async function postJson(
  url: string,
  value: object,
  { headers, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<void> {
  const authorization = basicAuthorization(new URL(url));
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }), ...headers },
    body: JSON.stringify(value),
    signal,
  });
  discard(body);
  if (statusCode < 200 || statusCode > 299) {
    throw new Error(`The webhook responded with HTTP ${String(statusCode)}`);
  }
}
