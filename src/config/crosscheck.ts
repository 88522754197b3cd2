import { parseUnits } from '../core/model/amount.js';
import { isJsonObject } from '../core/model/json.js';
import { EFFORTS_OF, REASONING_EFFORTS } from '../core/rigs/rig-options.js';
import type { Mistake } from './mistakes.js';

/** The decimals of a native currency that does not state them. */
const DECIMALS = 18;

/** The keys of `RigOptions`. */
const RIG_OPTIONS = ['headers', 'temperature', 'maxOutputTokens', 'tools', 'reasoning'];

/** The context window of a rig that does not state it, in tokens. */
export const CONTEXT_TOKENS = 128_000;

/** The form of a rig's id. */
export const RIG_ID = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;

/** The id of the built-in rig. */
export const DEMO_RIG = 'demo';

/** The environment variable that holds each provider's API key. */
export const PROVIDER_KEYS = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
} as const;

/** A provider that requires an API key. */
export type KeyedProvider = keyof typeof PROVIDER_KEYS;

/** All providers that require an API key. */
export const KEYED_PROVIDERS = ['openai', 'anthropic', 'google'] as const satisfies readonly KeyedProvider[];

/**
 * Finds mistakes between the parts of a file: duplicate names, references to unknown rigs, tool servers and chains,
 * missing API keys. Skips parts that do not match the schema, so that one run lists these mistakes together with the
 * schema's.
 */
export function crossCheck(
  tree: unknown,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  const rigs = entries(tree, 'rigs');
  const apps = entries(tree, 'apps');
  twice(rigs, 'rigs', 'id');
  twice(apps, 'apps', 'name');
  rigs.forEach(checkRig);

  const known = new Set([...rigs.map((rig) => field(rig, 'id')), DEMO_RIG]);
  // Without rigs in the file, the environment determines which rigs exist: the check runs later.
  const variables = [...Object.values(PROVIDER_KEYS), 'MODEL'];
  const open = rigs.length === 0 && variables.some((name) => isSet(env[name]));
  const servers = entries(tree, 'mcp');
  twice(servers, 'mcp', 'name');
  const serverNames = new Set(servers.map((server) => field(server, 'name')));
  twice(entries(tree, 'chains'), 'chains', 'id');
  const chains = entries(tree, 'chains').map((chain) => field(chain, 'id'));
  const knownChains = chains.length === 0 ? 'there are none' : `there are ${chains.join(', ')}`;
  entries(field(tree, 'prices'), 'feeds').forEach((feed, index) => {
    const id = field(feed, 'chainId');
    if (typeof id !== 'number' || chains.includes(id)) return;
    add(`prices.feeds[${String(index)}].chainId`, `there is no chain ${String(id)}; ${knownChains}`);
  });
  apps.forEach((app, index) => {
    const where = `apps[${String(index)}]`;
    twice(entries(app, 'secrets'), `${where}.secrets`, 'name');
    for (const key of ['rigs', 'tools', 'mcp'] as const) repeated(entries(app, key), `${where}.${key}`);
    entries(app, 'mcp').forEach((name, at) => {
      if (typeof name === 'string' && !serverNames.has(name)) {
        const what = `there is no tool server ${JSON.stringify(name)}; there are ${spoken(serverNames)}`;
        add(`${where}.mcp[${String(at)}]`, what);
      }
    });
    checkWallet(field(app, 'wallet'), `${where}.wallet`);
    if (open) return;
    entries(app, 'rigs').forEach((id, at) => {
      if (typeof id === 'string' && !known.has(id)) {
        add(
          `${where}.rigs[${String(at)}]`,
          `there is no rig ${JSON.stringify(id)}; there are ${spoken(known)}`,
        );
      }
    });
  });
  return mistakes;

  function checkWallet(wallet: unknown, where: string): void {
    if (!isJsonObject(wallet)) return;
    const named = entries(wallet, 'chains');
    if (chains.length === 0 && named.length === 0) {
      add(where, 'is for chains, and none is configured; leave it out');
    }
    named.forEach((id, at) => {
      if (typeof id !== 'number' || chains.includes(id)) return;
      add(`${where}.chains[${String(at)}]`, `there is no chain ${String(id)}; ${knownChains}`);
    });
    for (const key of ['maxValue', 'maxDailyValue'] as const)
      checkAmount(wallet[key], named, `${where}.${key}`);
  }

  /** Checks an amount against the currency of each chain for which it holds. */
  function checkAmount(amount: unknown, named: readonly unknown[], where: string): void {
    if (typeof amount !== 'string' && typeof amount !== 'number') return;
    // Other text does not match the schema.
    if (!/^\d+(?:\.\d+)?$/.test(String(amount))) return;
    for (const chain of entries(tree, 'chains')) {
      const id = field(chain, 'id');
      const decimals = field(chain, 'decimals') ?? DECIMALS;
      if ((named.length > 0 && !named.includes(id)) || !isCount(decimals)) continue;
      if (parseUnits(String(amount), decimals) !== undefined) continue;
      add(
        where,
        `is no amount of the currency of chain ${String(id)}, which has ${String(decimals)} decimals`,
      );
      return;
    }
  }

  function checkRig(rig: unknown, index: number): void {
    const where = `rigs[${String(index)}]`;
    const provider = field(rig, 'provider');
    const has = (key: string): boolean => isJsonObject(rig) && rig[key] !== undefined;
    const openaiUrl = openaiBaseUrl(env);
    if (provider === 'openai-compatible' && !has('baseUrl') && openaiUrl === undefined) {
      add(`${where}.baseUrl`, 'is needed with openai-compatible: the URL that ends before /chat/completions');
    }
    if (provider === 'openai' && has('baseUrl') && !has('apiKey') && isSet(openaiUrl)) {
      if (!isSameUrl(field(rig, 'baseUrl'), openaiUrl)) {
        const what =
          'is needed here: OPENAI_API_KEY is for OPENAI_BASE_URL, and this rig has another address';
        add(`${where}.apiKey`, what);
      }
    }
    const keyed = KEYED_PROVIDERS.find((candidate) => candidate === provider);
    if (keyed !== undefined && !has('apiKey') && !isSet(env[PROVIDER_KEYS[keyed]])) {
      add(
        `${where}.apiKey`,
        `is needed with ${keyed}, here or as ${PROVIDER_KEYS[keyed]} in the environment`,
      );
    }
    checkOptions(rig, where);
    if (provider === 'demo') {
      for (const key of ['model', 'baseUrl', 'apiKey', ...RIG_OPTIONS]) {
        if (has(key)) add(`${where}.${key}`, 'has no meaning with the provider demo; leave it out');
      }
    } else if (typeof provider === 'string' && field(rig, 'id') === DEMO_RIG) {
      add(`${where}.id`, `${DEMO_RIG} is the built-in rig's id; choose another`);
    }
  }

  function checkOptions(rig: unknown, where: string): void {
    const provider = Object.entries(EFFORTS_OF).find(([name]) => name === field(rig, 'provider'));
    const effort = REASONING_EFFORTS.find((known) => known === field(rig, 'reasoning'));
    if (provider !== undefined && effort !== undefined && !provider[1].includes(effort)) {
      add(`${where}.reasoning`, `must be one of ${provider[1].join(', ')} with ${provider[0]}`);
    }
    const most = Number(field(rig, 'contextTokens') ?? CONTEXT_TOKENS) / 2;
    if (Number(field(rig, 'maxOutputTokens')) > most) {
      add(`${where}.maxOutputTokens`, `must be at most half of contextTokens, ${String(Math.floor(most))}`);
    }
  }

  function twice(items: readonly unknown[], where: string, key: 'id' | 'name'): void {
    repeated(
      items.map((item) => field(item, key)),
      where,
      `.${key}`,
    );
  }

  function repeated(names: readonly unknown[], where: string, suffix = ''): void {
    names.forEach((name, index) => {
      const first = names.indexOf(name);
      const isName = typeof name === 'string' || typeof name === 'number';
      if (!isName || first === index) return;
      add(`${where}[${String(index)}]${suffix}`, `is the same as ${where}[${String(first)}]${suffix}`);
    });
  }

  function add(where: string, what: string): void {
    mistakes.push({ where: `${file}: ${where}`, what });
  }
}

/** True when a variable has a value. A blank one, as in `PORT=`, counts as not set. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

function isSameUrl(one: unknown, other: string): boolean {
  const plain = (url: string): string => url.trim().replace(/\/+$/, '');
  return typeof one === 'string' && plain(one) === plain(other);
}

/** Returns the value of `OPENAI_BASE_URL`, the address of rigs of OpenAI's format that state none. */
export function openaiBaseUrl(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { OPENAI_BASE_URL: given } = env;
  return isSet(given) ? given.trim() : undefined;
}

/** Joins names for a message. */
export function spoken(names: Iterable<unknown>): string {
  return [...names].filter((name) => typeof name === 'string').join(', ');
}

function entries(tree: unknown, key: string): readonly unknown[] {
  const list: unknown = isJsonObject(tree) ? tree[key] : undefined;
  return Array.isArray(list) ? list : [];
}

function field(item: unknown, key: string): unknown {
  return isJsonObject(item) ? item[key] : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 77;
}
