import type { ProviderKeyApi } from '../../core/api.js';
import type { JsonObject } from '../../core/model/json.js';
import type { ProviderKey } from '../../core/access/provider-keys.js';
import { RefusedError } from '../../core/model/refusal.js';
import type { Route } from '../../http/routing/route.js';
import { handle } from '../../http/validation/input.js';
import { endpoint } from './endpoint.js';
import * as input from './input.js';

/** The routes of the keys for model providers that clients bring. No response contains a key. */
export function providerKeyRoutes(core: ProviderKeyApi): readonly Route[] {
  return [
    endpoint(
      'GET',
      '/api/control/provider-keys',
      handle(input.listProviderKeys, async (owner, _req, res) => {
        const keys = (await core.listProviderKeys(owner)).map(providerKey);
        res.json({ provider_keys: keys, byok_keys: keys });
      }),
    ),
    endpoint(
      'POST',
      '/api/control/provider-keys',
      handle(input.storeProviderKey, async ({ clientId, sessionId, ...asked }, _req, res) => {
        const { provider, label } = asked;
        const key = { provider, apiKey: oneKey(asked.apiKey, asked.byokKey), label };
        res.json({ key: providerKey(await core.storeProviderKey({ clientId, sessionId }, key)) });
      }),
    ),
    endpoint(
      'DELETE',
      '/api/control/provider-keys/:provider',
      handle(input.deleteProviderKey, async ({ provider, ...owner }, _req, res) => {
        res.json({ deleted: await core.deleteProviderKey(owner, provider) });
      }),
    ),
  ];
}

/** A stored key as the wire has it. */
function providerKey({ provider, keyPrefix, label, isActive }: ProviderKey): JsonObject {
  return { provider, key_prefix: keyPrefix, label, is_active: isActive };
}

/** The key of a request has two names, of which a request uses one. */
function oneKey(apiKey: string | undefined, byokKey: string | undefined): string {
  const key = apiKey ?? byokKey;
  if (key !== undefined && (apiKey === undefined || byokKey === undefined || apiKey === byokKey)) return key;
  const message =
    key === undefined
      ? "api_key is required: the provider's key"
      : 'api_key and byok_key must not differ: they are names of the same field';
  throw new RefusedError('invalid', message, [{ path: 'api_key', message }]);
}
