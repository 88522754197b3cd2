import type { Route } from '../../http/routing/route.js';
import { ownerOf } from './control.js';
import { appEndpoint, endpoint, withSession, type FieldParts } from './endpoint.js';
import * as input from './input.js';
import type { NamedSession } from './session-id.js';

/** The routes of the values for Apps' secret slots. No response contains a value. */
export function secretRoutes(parts: FieldParts): readonly Route[] {
  const { core } = parts;
  return [
    appEndpoint(
      'POST',
      '/api/secrets',
      withSession(parts, input.storeSecrets, async (asked, named, _req, res) => {
        const handles = await core.storeSecrets({
          ...{ session: named?.session, clientId: asked.clientId, values: asked.secrets },
          ...{ app: input.appOf(asked), key: asked.appKey, forAnyApp: true, allowsColons: true },
        });
        res.json({ handles });
      }),
    ),
    endpoint(
      'GET',
      '/api/secrets',
      withSession(parts, input.listSecrets, async ({ clientId }, named, _req, res) => {
        if (clientId !== undefined) await bind(named, clientId);
        res.json({ by_app: await core.listSecrets(ownerOf(clientId, named)) });
      }),
    ),
    endpoint(
      'DELETE',
      '/api/secrets',
      withSession(parts, input.clearSecrets, async (asked, named, _req, res) => {
        await bind(named, asked.clientId);
        const which = { app: input.appOf(asked) ?? null, name: null };
        res.json({ cleared: (await core.deleteSecrets(asked.clientId, which)) > 0 });
      }),
    ),
    endpoint(
      'DELETE',
      '/api/secrets/:name',
      withSession(parts, input.deleteSecret, async (asked, named, _req, res) => {
        await bind(named, asked.clientId);
        const which = { app: input.appOf(asked) ?? null, name: asked.name };
        res.json({ deleted: (await core.deleteSecrets(asked.clientId, which)) > 0 });
      }),
    ),
  ];

  /** Binds the session, if the request names one, to this client's secrets. */
  async function bind(named: NamedSession | undefined, clientId: string): Promise<void> {
    if (named?.session !== undefined) await core.bindClient(named.session, clientId);
  }
}
