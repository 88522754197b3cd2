import type { IncomingMessage, ServerResponse } from 'node:http';
import { LingeringResponse } from '../connections/lingering.js';

/** Receives the status of a response. */
type TakeStatus = (status: number) => void;

/**
 * A response that reports its status once, when its headers are written, or when it ends although its connection was
 * closed before.
 */
export class OutcomeResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends LingeringResponse<Request> {
  #take: TakeStatus | undefined;

  /** Sets the function that receives the status, and replaces an earlier one. */
  reportTo(take: TakeStatus): void {
    this.#take = take;
  }

  /** Node also calls this for implicit headers. */
  override writeHead(...given: Parameters<LingeringResponse['writeHead']>): this {
    this.#report(given[0]);
    return super.writeHead(...given);
  }

  override end(...given: unknown[]): this {
    this.#report(this.statusCode);
    return super.end(...given);
  }

  #report(status: number): void {
    const take = this.#take;
    // A response may outlive its headers for hours, so it releases what the function refers to.
    this.#take = undefined;
    take?.(status);
  }
}

/**
 * Calls the function once with the status of a response, also when the client has disconnected before; never for a
 * request without a response.
 * @throws TypeError when another server created the response
 */
export function onOutcome(res: ServerResponse, take: TakeStatus): void {
  if (!(res instanceof OutcomeResponse)) throw new TypeError('the response was not created by this server');
  res.reportTo(take);
}
