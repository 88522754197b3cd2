import type { Route } from '../../http/routing/route.js';
import { rigList } from '../shared/rig-list.js';
import { selection } from '../shared/shapes.js';
import { appEndpoint, endpoint, inSession, namedSession, withSession, type FieldParts } from './endpoint.js';
import * as input from './input.js';
import { appName, providerKey } from './output.js';
import type { NamedSession } from './session-id.js';

/** The routes of models, Apps, and keys for model providers. */
export function controlRoutes(parts: FieldParts): readonly Route[] {
  const { core } = parts;
  return [
    appEndpoint(
      'POST',
      '/api/control/model',
      inSession(parts, input.selectModel, async (asked, named, _req, res) => {
        const { rig, baml, appKey: key } = asked;
        const session = namedSession(named);
        const { created } = await core.selectRig({ session, rig, app: input.appOf(asked), key });
        res.json(selection(rig, baml, created));
      }),
    ),
    appEndpoint(
      'GET',
      '/api/control/models',
      withSession(parts, input.listModels, async (asked, named, _req, res) => {
        const app = input.appOf(asked);
        const rigs = await core.listRigs({ session: named?.session, app, key: asked.appKey });
        res.json(rigList(rigs, asked.include));
      }),
    ),
    endpoint(
      'GET',
      '/api/control/apps',
      inSession(parts, input.listApps, async ({ appKey }, { session }, _req, res) => {
        const apps = await core.listApps(appKey, { keyRequired: false });
        if (session !== undefined) await core.touch(session);
        res.json(apps.map(appName));
      }),
    ),
    endpoint(
      'GET',
      '/api/control/provider-keys',
      withSession(parts, input.listProviderKeys, async ({ clientId }, named, _req, res) => {
        const keys = (await core.listProviderKeys(ownerOf(clientId, named))).map(providerKey);
        res.json({ provider_keys: keys, byok_keys: keys });
      }),
    ),
    endpoint(
      'POST',
      '/api/control/provider-keys',
      withSession(parts, input.storeProviderKey, async (asked, named, _req, res) => {
        const { clientId, provider, label } = asked;
        const apiKey = input.given(asked.apiKey ?? asked.byokKey, 'api_key', "the provider's key");
        const key = await core.storeProviderKey(ownerOf(clientId, named), { provider, apiKey, label });
        res.json({ key: providerKey(key) });
      }),
    ),
    endpoint(
      'DELETE',
      '/api/control/provider-keys/:provider',
      withSession(parts, input.deleteProviderKey, async ({ clientId, provider }, named, _req, res) => {
        res.json({ deleted: await core.deleteProviderKey(ownerOf(clientId, named), provider) });
      }),
    ),
  ];
}

/** Returns the owner of keys and secrets: the client, else the client of the session, as the published clients send. */
export function ownerOf(clientId: string | undefined, named: NamedSession | undefined) {
  return { clientId, sessionId: named?.session?.id };
}
