import { createClient } from '../../../client/index.js';
import type { Client, Exchange } from '../../../client/types.js';
import { pageFetch } from '../page-fetch.js';
import { WalletConnection } from './connection.js';
import { Discovery } from './discovery.js';
import { Records } from './records.js';
import { RequestDesk, type RequestService } from './request-desk.js';
import { SignIn } from './sign-in.js';

/** The wallets of this browser, and what they are asked. */
export interface Wallets {
  readonly connection: WalletConnection;
  readonly signIn: SignIn;
  readonly records: Records;
  readonly desk: RequestDesk;
}

export function createWallets(): Wallets {
  const connection = new WalletConnection(new Discovery());
  const records = new Records();
  return { connection, records, signIn: new SignIn(), desk: new RequestDesk(records, connection) };
}

/**
 * Returns the calls for wallet requests of any session: an outcome that an earlier visit could not report may be of
 * another one than is open.
 */
export function requestService(base: string, onExchange: (exchange: Exchange) => void): RequestService {
  const ask = async <T>(sessionId: string, call: (client: Client) => Promise<T>): Promise<T> => {
    const client = createClient({ url: base, sessionId, onExchange, fetch: pageFetch });
    try {
      return await call(client);
    } finally {
      client.close();
    }
  };
  return {
    report: (sessionId, report) => ask(sessionId, (client) => client.reportSystem(report)),
    pending: (sessionId) => ask(sessionId, (client) => client.pending()),
  };
}
