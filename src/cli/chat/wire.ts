import { CommandError } from '../terminal.js';
import { isJsonObject } from '../../core/json.js';
import { parseJson } from './events.js';

/** How a conversation reaches the service. */
export interface WireSettings {
  /** Without a slash at its end. */
  readonly url: string;
  readonly sessionId: string;
  readonly app: string;
  readonly key: string | undefined;
}

/** The service cannot be reached, or cannot answer now: worth another attempt. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** One request of a conversation. */
export interface WireRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly signal?: AbortSignal;
}

/**
 * Makes a request with the session's header. Resolves with an answer of 2xx.
 * @throws UnreachableError when there is no connection, or on 429, 502, 503, 504; CommandError with the service's words otherwise
 */
export async function request(
  settings: WireSettings,
  { method, path, query, headers, json, signal }: WireRequest,
): Promise<Response> {
  const url = new URL(`${settings.url}${path}`);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: {
        'X-Session-Id': settings.sessionId,
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new UnreachableError(`The service at ${settings.url} cannot be reached`, { cause: error });
  }
  if (response.ok) return response;
  const words = await errorWords(response);
  if ([429, 502, 503, 504].includes(response.status)) throw new UnreachableError(words);
  throw new CommandError(words);
}

async function errorWords(response: Response): Promise<string> {
  const body = parseJson(await response.text());
  const said = isJsonObject(body) && typeof body.error === 'string' ? body.error : response.statusText;
  return `${said} (HTTP ${String(response.status)})`;
}

/** The bytes of an answer that has a body. */
export function bodyOf(response: Response): AsyncIterable<Uint8Array> {
  if (response.body === null) throw new UnreachableError('The service answered without a body');
  return response.body;
}

/** How often, and how long after each other in milliseconds, attempts are made; the last one's failure is final. */
const PAUSES = [100, 300, 1000, 2000, 4000, 8000, 8000, 8000];

/** Repeats what fails for want of a connection. */
export async function persistently<T>(
  work: () => Promise<T>,
  onRetry: (error: UnreachableError) => void,
): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      onRetry(error);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return work();
}
