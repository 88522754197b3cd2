/**
 * A call or a connection failed. `message` is safe to show to the user (no URL, header or stack); details are in
 * `cause`.
 */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';

  constructor(
    /** `session_lost`: the server no longer knows the session, so the call was certainly not executed. */
    readonly kind: 'unreachable' | 'gone' | 'session_lost' | 'timeout' | 'refused',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const MAX_WORDS = 2_000;
const CONNECTION_CLOSED = -32000;
const REQUEST_TIMEOUT = -32001;
/** How the SDK's error about the version of a server begins. */
const OTHER_VERSION = "Server's protocol version is not supported";

/**
 * Converts an error of the SDK to an `McpFailure`.
 * @param server the server's name, for the message
 * @param options `mask` removes secrets from the server's words before they are cut; `isConnecting`: there is no
 * session yet that the server could have lost, and no call that could have taken effect
 */
export function toFailure(
  error: unknown,
  server: string,
  {
    mask = (text) => text,
    isConnecting = false,
  }: { mask?: (text: string) => string; isConnecting?: boolean } = {},
): McpFailure {
  if (error instanceof McpFailure) return error;
  const options = { cause: error };
  const named = `The tool server ${server}`;
  const code = codeOf(error);
  const words = error instanceof Error ? error.message : '';
  if (error instanceof Error && error.name === 'McpError') {
    if (code === REQUEST_TIMEOUT) {
      return new McpFailure('timeout', `${named} did not answer in time.`, options);
    }
    if (code === CONNECTION_CLOSED && words.endsWith('Connection closed')) {
      const outcome = isConnecting ? '' : '; whether the call took effect is not known';
      return new McpFailure('gone', `${named} went away${outcome}.`, options);
    }
    const reason = bounded(mask(words.replace(/^(MCP error -?\d+: )+/, '')));
    return new McpFailure('refused', reason === '' ? `${named} refused the call.` : reason, options);
  }
  if (words.startsWith('Streamable HTTP error') && typeof code === 'number') {
    const isLost = code === 404 || (code === 400 && /session/i.test(words));
    return isLost && !isConnecting
      ? new McpFailure('session_lost', `${named} no longer knows this session.`, options)
      : ofStatus(code, named, options);
  }
  if (words.startsWith(OTHER_VERSION)) {
    return new McpFailure('unreachable', `${named} has a version of MCP that is not supported.`, options);
  }
  if (isInvalidResponse(error)) {
    return new McpFailure('unreachable', `${named} sent an invalid response.`, options);
  }
  return new McpFailure('unreachable', `${named} cannot be reached at the moment.`, options);
}

function ofStatus(code: number, named: string, options: ErrorOptions): McpFailure {
  if (code === 401 || code === 403) {
    const message = `${named} refused the credentials (HTTP ${String(code)}).`;
    return new McpFailure('refused', message, options);
  }
  if (code >= 300 && code < 400) {
    const message = `${named} redirects to another address; the redirect was not followed (HTTP ${String(code)}).`;
    return new McpFailure('unreachable', message, options);
  }
  const what = code > 0 ? `responded with HTTP ${String(code)}` : 'sent an invalid response';
  return new McpFailure('unreachable', `${named} ${what}.`, options);
}

/** Truncates text to `most` characters. */
export function bounded(words: string, most = MAX_WORDS): string {
  return words.length <= most ? words : `${words.slice(0, most).toWellFormed()}…`;
}

/** True when the server responded, even if it refused the request. */
export function isAnswer(error: unknown): boolean {
  return toFailure(error, '').kind === 'refused';
}

/** True for an error about a response that is not JSON, or not a message. */
function isInvalidResponse(error: unknown): boolean {
  // Not `instanceof`: `fetch` throws the errors of Node's main context.
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  return name === 'SyntaxError' || name === 'ZodError';
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
