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
  readonly #bySession = new Map<string, number>();
  readonly #byAddress = new Map<string, number>();

  /** @param settings `streamLimit`: maximum per client address; 0: no limit */
  constructor(private readonly settings: Pick<HttpSettings, 'streamLimit' | 'trustProxy'>) {}

  /**
   * Reserves a slot until the response is over.
   * @throws HttpError 429 when no slot is free
   */
  take(req: Request, res: Response, sessionId: string): void {
    const { streamLimit, trustProxy } = this.settings;
    const address = clientAddress(req, trustProxy);
    const ofSession = this.#bySession.get(sessionId) ?? 0;
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (ofSession >= MAX_PER_SESSION) throw tooMany(MAX_PER_SESSION, 'of this session');
    if (streamLimit > 0 && ofAddress >= streamLimit) throw tooMany(streamLimit, 'from this address');
    this.#bySession.set(sessionId, ofSession + 1);
    this.#byAddress.set(address, ofAddress + 1);
    onClosed(res, () => {
      leave(this.#bySession, sessionId);
      leave(this.#byAddress, address);
    });
  }
}

function leave(taken: Map<string, number>, name: string): void {
  const left = (taken.get(name) ?? 0) - 1;
  if (left > 0) taken.set(name, left);
  else taken.delete(name);
}

function tooMany(limit: number, whose: string): HttpError {
  const message = `${String(limit)} streams ${whose} are open already: close one, or try again in ${String(RETRY_AFTER)} s`;
  return new HttpError(429, 'rate_limited', message, RETRY_AFTER);
}
