import { onClosed } from '../connections/pending-responses.js';
import type { Request, Response } from 'express';
import { clientAddress } from '../request/client-address.js';
import { HttpError } from '../response/errors.js';
import type { HttpSettings } from '../settings.js';

/**
 * Maximum number of open streams per session: the tabs and devices of one person, including connections that were lost
 * but have not timed out.
 */
const MAX_PER_SESSION = 100;

/** `Retry-After` in seconds. */
const RETRY_AFTER = 5;

/** Limits the number of open streams per session and per client address. */
export class StreamPlaces {
  readonly #taken = new Map<string, number>();

  /** @param settings `streamLimit`: maximum per client address; 0: no limit */
  constructor(private readonly settings: Pick<HttpSettings, 'streamLimit' | 'trustProxy'>) {}

  /**
   * Reserves a slot until the response is over.
   * @throws HttpError 429 when no slot is free
   */
  take(req: Request, res: Response, sessionId: string): void {
    const { streamLimit, trustProxy } = this.settings;
    const session = `session ${sessionId}`;
    const address = `address ${clientAddress(req, trustProxy)}`;
    if (this.#of(session) >= MAX_PER_SESSION) throw tooMany(MAX_PER_SESSION, 'of this session');
    if (streamLimit > 0 && this.#of(address) >= streamLimit) throw tooMany(streamLimit, 'from this address');
    for (const name of [session, address]) this.#taken.set(name, this.#of(name) + 1);
    onClosed(res, () => {
      for (const name of [session, address]) this.#leave(name);
    });
  }

  #of(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  #leave(name: string): void {
    const left = this.#of(name) - 1;
    if (left > 0) this.#taken.set(name, left);
    else this.#taken.delete(name);
  }
}

function tooMany(limit: number, whose: string): HttpError {
  const message = `${String(limit)} streams ${whose} are open already: close one, or try again in ${String(RETRY_AFTER)} s`;
  return new HttpError(429, 'rate_limited', message, RETRY_AFTER);
}
