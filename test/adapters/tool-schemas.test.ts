import { afterAll, describe, expect, it } from '@jest/globals';
import { builtinTools } from '../../src/adapters/tools/builtin/tools.js';
import { evmTools } from '../../src/adapters/tools/evm/tools.js';
import { priceTools } from '../../src/adapters/tools/prices/tools.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';
import type { ToolDescription } from '../../src/core/ports/tool.js';
import { closeTestCores } from '../support/core.js';
import { FakeClock } from '../support/fake-clock.js';
import { walletCore } from '../support/wallet-core.js';

afterAll(closeTestCores);

const chains = [{ id: 1, name: 'Testnet', rpcUrls: ['http://127.0.0.1:1'] }];

async function allTools(): Promise<readonly ToolDescription[]> {
  const http = { baseUrl: 'http://127.0.0.1:1', ids: { ETH: 'ethereum' } };
  const { core } = await walletCore();
  return [
    ...builtinTools(new FakeClock()),
    ...evmTools({ chains }),
    ...priceTools({ chains, feeds: [], http, cacheSeconds: 60 }, new FakeClock()),
    ...(await core.listTools(undefined, undefined)),
  ];
}

/** The objects in a schema, at any depth, with their paths. */
function objectsIn(value: JsonValue, path: string): readonly (readonly [string, JsonObject])[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, item]) => objectsIn(item, `${path}.${key}`));
  return isJsonObject(value) ? [[path, value], ...inner] : inner;
}

async function allObjects(): Promise<readonly (readonly [string, JsonObject])[]> {
  return (await allTools()).flatMap(({ name, parameters }) => objectsIn(parameters, name));
}

function isArray({ type }: JsonObject): boolean {
  return type === 'array' || (Array.isArray(type) && type.includes('array'));
}

// Gemini refuses a whole request because of one schema that breaks one of these rules.
describe('the schemas of the built-in tools', () => {
  it('are those of all tools', async () => {
    const names = (await allTools()).map(({ name }) => name);
    for (const name of ['calculate', 'encode_function_call', 'get_token_price', 'stage_transaction'])
      expect(names).toContain(name);
  });

  it('give every array its items', async () => {
    const arrays = (await allObjects()).filter(([, schema]) => isArray(schema));
    expect(arrays.length).toBeGreaterThan(5);
    const bare = arrays.filter(([, { items }]) => !isJsonObject(items) || Object.keys(items).length === 0);
    expect(bare.map(([path]) => path)).toEqual([]);
  });

  it('have nothing beside alternatives, each of which has a type', async () => {
    // Its adapter does not send `additionalProperties`.
    const objects = (await allObjects()).filter(([path]) => !path.includes('.additionalProperties'));
    const choices = objects.filter(([, { anyOf }]) => anyOf !== undefined);
    expect(choices.length).toBeGreaterThan(5);
    const isSound = ({ anyOf, ...others }: JsonObject) =>
      Object.keys(others).length === 0 &&
      Array.isArray(anyOf) &&
      anyOf.every((schema: JsonValue) => isJsonObject(schema) && typeof schema.type === 'string');
    expect(choices.filter(([, schema]) => !isSound(schema)).map(([path]) => path)).toEqual([]);
  });
});
