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
/** Loopback whatever a resolver says (RFC 6761). */
const LOCALHOST = /(?:^|\.)localhost\.?$/;

/** How a guarded fetch is bounded. Times in milliseconds. */
export interface GuardedFetchOptions {
  /** Hosts (`host` or `host:port`) that may be private: `allowedHosts`. */
  readonly allowHosts: readonly string[];
  /** How large the body of an answer may be; -1: as large as it likes. Default 10 MiB. */
  readonly maxBytes?: number;
  /** How long it may take until the headers of the last answer, redirects and all. Default 30 s. */
  readonly headersMs?: number;
  /** How long a body may be silent; 0: for ever (event streams). Default 60 s. */
  readonly idleMs?: number;
  /** How names are resolved. Default: as the system does. */
  readonly resolve?: Resolve;
}

/**
 * Makes a `fetch` for URLs that come from a model, a client or a contract: http and https only, and only to public
 * addresses or allowed hosts. Each connection goes to the very address that was checked (no DNS rebinding), redirects
 * (at most 5) are checked hop by hop and lose all headers that may hold keys when they leave the origin, nothing is
 * decompressed, no proxy is used. `init` may have `method`, `headers`, `body`, `signal` and `redirect`. Aborting
 * `signal` closes the connection, and the promise or the body fails with its reason.
 * @throws Error when an allowed host is not written as one
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

  /** @throws GuardError when the URL must not be asked; names are judged later, by what they resolve to */
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
    // A socket asks no lookup about an address.
    if (isIP(host) !== 0 && !isPublicAddress(host)) throw refusedHost(host);
    return guarded;
  }
}

async function firstHop(input: string | URL | Request, init: RequestInit | undefined): Promise<Hop> {
  const text = input instanceof Request ? input.url : String(input);
  if (!URL.canParse(text)) throw new GuardError('That is not a URL.');
  const url = new URL(text);
  // What a body and headers mean is the platform's to say; the address is put back, since credentials in it would
  // throw.
  const plain = input instanceof Request ? input : 'http://localhost/';
  const request = new Request(plain, { ...init, signal: null });
  const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
  return { url, method: request.method, headers: new Headers(request.headers), body };
}
