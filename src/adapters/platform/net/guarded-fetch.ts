import { isIP } from 'node:net';
import { Agent, request as send, type Dispatcher } from 'undici';
import { linkSignals, type LinkedSignal } from '../../../core/model/abort.js';
import { allowedHosts, type AllowedHosts } from './allowed-hosts.js';
import { checkedLookup, openLookup, refusedHost, systemResolve, type Resolve } from './checked-lookup.js';
import { GuardError } from './guard-error.js';
import { isPublicAddress } from './public-addresses.js';
import { followed, type Hop } from './redirects.js';
import { asResponse, discard } from './responses.js';

const MAX_REDIRECTS = 5;
/** Always loopback, regardless of the resolver (RFC 6761). */
const LOCALHOST = /(?:^|\.)localhost\.?$/;

/** Limits of a guarded fetch. Times in milliseconds. */
export interface GuardedFetchOptions {
  /** Hosts (`host` or `host:port`) that may have private addresses; see `allowedHosts`. */
  readonly allowHosts: readonly string[];
  /** Limit of a response body; -1: no limit. Default 10 MiB. */
  readonly maxBytes?: number;
  /** Timeout until the headers of the final response, including redirects. Default 30 s. */
  readonly headersMs?: number;
  /** Idle timeout of a body; 0: none, for event streams. Default 60 s. */
  readonly idleMs?: number;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

/**
 * Creates a `fetch` for URLs that come from a model, a client or a contract. It allows only http and https, and only
 * public addresses and allowed hosts. Each connection goes to the address that was checked, which prevents DNS
 * rebinding. It checks each redirect (at most 5) and drops all headers that may hold keys when a redirect leaves the
 * origin. It decompresses nothing and uses no proxy. `init` may have `method`, `headers`, `body`, `signal` and
 * `redirect`. Aborting `signal` closes the connection, and the promise or the body fails with its reason.
 * @throws Error when an entry of `allowHosts` is invalid
 */
export function createGuardedFetch(options: GuardedFetchOptions): typeof fetch {
  const { headersMs = 30_000, resolve = systemResolve } = options;
  const isAllowed = allowedHosts(options.allowHosts);
  const bounds = {
    headersTimeout: headersMs,
    bodyTimeout: options.idleMs ?? 60_000,
    maxResponseSize: options.maxBytes ?? 10 * 1024 * 1024,
  };
  const open = new Agent({ ...bounds, connect: { lookup: openLookup(resolve), timeout: headersMs } });
  const guarded = new Agent({ ...bounds, connect: { lookup: checkedLookup(resolve), timeout: headersMs } });

  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const deadline = new AbortController();
    const timer = setTimeout(() => {
      deadline.abort(new GuardError('The host took too long to answer.'));
    }, headersMs);
    const until = linkSignals(deadline.signal, ...(signal ? [signal] : []));
    try {
      return await exchange(await firstHop(input, init), init?.redirect ?? 'follow', until);
    } catch (error) {
      until.release();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  async function exchange(
    first: Hop,
    redirect: 'follow' | 'error' | 'manual',
    until: LinkedSignal,
  ): Promise<Response> {
    let hop = first;
    for (let redirects = 0; ; redirects++) {
      const answer = await ask(hop, until.signal);
      const next = redirect === 'manual' ? undefined : followed(hop, answer);
      if (next === undefined) {
        answer.body.once('close', until.release);
        return asResponse(answer, hop, redirects > 0);
      }
      discard(answer.body);
      if (redirect === 'error') throw new GuardError(`The host ${hop.url.hostname} redirects elsewhere.`);
      if (redirects >= MAX_REDIRECTS) throw new GuardError('There are too many redirects.');
      hop = next;
    }
  }

  async function ask(hop: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const dispatcher = agentFor(hop.url, isAllowed);
    const headers = {
      'user-agent': 'diptych',
      ...Object.fromEntries(hop.headers),
      'accept-encoding': 'identity',
    };
    try {
      return await send(hop.url, { dispatcher, method: hop.method, headers, body: hop.body, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GuardError) throw error;
      throw new GuardError(`The host ${hop.url.hostname} could not be reached.`, { cause: error });
    }
  }

  /** @throws GuardError when the URL is not allowed; host names are checked later, by their addresses */
  function agentFor(url: URL, allows: AllowedHosts): Agent {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new GuardError('Only http and https URLs can be fetched.');
    }
    if (url.username !== '' || url.password !== '') {
      throw new GuardError('A URL must not hold a user name or a password.');
    }
    if (allows(url)) return open;
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (LOCALHOST.test(host)) throw refusedHost(host);
    // A socket does not call `lookup` for an IP address.
    if (isIP(host) !== 0 && !isPublicAddress(host)) throw refusedHost(host);
    return guarded;
  }
}

async function firstHop(input: string | URL | Request, init: RequestInit | undefined): Promise<Hop> {
  const text = input instanceof Request ? input.url : String(input);
  if (!URL.canParse(text)) throw new GuardError('That is not a URL.');
  const url = new URL(text);
  // `Request` normalizes body and headers. It gets a placeholder URL, because it throws on a URL with credentials.
  const plain = input instanceof Request ? input : 'http://localhost/';
  const request = new Request(plain, { ...init, signal: null });
  const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
  return { url, method: request.method, headers: new Headers(request.headers), body };
}
