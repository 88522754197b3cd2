import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import type { SecretApi } from '../../core/api.js';
import { sentByHeader } from '../shared/session.js';
import { appEndpoint, endpoint } from './endpoint.js';
import * as input from './input.js';

/** The routes of the values for Apps' secret slots. No response contains a value. */
export function secretRoutes(core: SecretApi): readonly Route[] {
  return [
    appEndpoint(
      'POST',
      '/api/secrets',
      handle(input.storeSecrets, async ({ sessionId, appKey, ...asked }, _req, res) => {
        const session = sessionId === undefined ? undefined : sentByHeader(sessionId);
        res.json({ handles: await core.storeSecrets({ ...asked, session, key: appKey }) });
      }),
    ),
    endpoint(
      'GET',
      '/api/secrets',
      handle(input.clientSecrets, async ({ sessionId, clientId }, _req, res) => {
        await bind(sessionId, clientId);
        res.json({ by_app: await core.listSecrets({ clientId, sessionId: undefined }) });
      }),
    ),
    endpoint(
      'DELETE',
      '/api/secrets',
      handle(input.clientSecrets, async ({ sessionId, clientId, app }, _req, res) => {
        await bind(sessionId, clientId);
        const removed = await core.deleteSecrets(clientId, { app: app ?? null, name: null });
        res.json({ cleared: removed > 0 });
      }),
    ),
    endpoint(
      'DELETE',
      '/api/secrets/:name',
      handle(input.oneSecret, async ({ sessionId, name, clientId, app }, _req, res) => {
        await bind(sessionId, clientId);
        const removed = await core.deleteSecrets(clientId, { app: app ?? null, name });
        res.json({ deleted: removed > 0 });
      }),
    ),
  ];

  /** Binds the session, if the request names one, to this client's secrets. */
  async function bind(sessionId: string | undefined, clientId: string): Promise<void> {
    if (sessionId !== undefined) await core.bindClient(sentByHeader(sessionId), clientId);
  }
}
