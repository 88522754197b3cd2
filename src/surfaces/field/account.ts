import type { RequestHandler } from 'express';
import { RefusedError } from '../../core/model/refusal.js';
import type { Route } from '../../http/routing/route.js';
import { endpoint } from './endpoint.js';

/** The paths of accounts, which the service does not have. Clients take a 401 for an anonymous user. */
export const ACCOUNT_PATHS = ['/api/settings/account', '/api/account'] as const;

/** The routes of accounts. */
export function accountRoutes(): readonly Route[] {
  return ACCOUNT_PATHS.map((path) => endpoint('GET', path, refuseAccount));
}

const refuseAccount: RequestHandler = () => {
  throw new RefusedError('unauthenticated', 'The service has no accounts: every client is anonymous');
};
