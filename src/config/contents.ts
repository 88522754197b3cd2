import { DEFAULT_APP, type App } from '../core/model/app.js';
import { CONTEXT_TOKENS, DEMO_RIG, isSet, openaiBaseUrl, PROVIDER_KEYS } from './crosscheck.js';
import type { LimitSettings, Limits } from '../core/model/quota.js';
import type { WalletPolicy } from '../core/model/wallet-request.js';
import type { RigOptions } from '../core/rigs/rig-options.js';
import type { FileApp, FileLimits, FileRig } from './schema.js';

/** The configuration of a rig. */
export type RigConfig =
  | ({
      readonly provider: 'openai-compatible' | 'openai' | 'anthropic' | 'google';
      /** The id that clients use. */
      readonly id: string;
      readonly name: string;
      /** The provider's name for the model. */
      readonly model: string;
      readonly baseUrl: string | null;
      readonly apiKey: string | null;
      readonly contextTokens: number;
    } & RigOptions)
  | { readonly provider: 'demo'; readonly id: string; readonly name: string };

const INSTRUCTIONS = 'You are a helpful assistant.';

/**
 * The configured rigs, in order. A rig without an API key uses the provider's key from the environment, and a rig of
 * OpenAI's format without an address uses `OPENAI_BASE_URL`.
 */
export function rigsOf(
  rigs: readonly FileRig[],
  env: Readonly<Record<string, string | undefined>>,
): readonly RigConfig[] {
  return rigs.map((rig) => {
    const { id, name = id, provider, model = id, apiKey, contextTokens } = rig;
    if (provider === 'demo') return { provider, id, name: name === DEMO_RIG ? 'Demo' : name };
    const isOpenai = provider === 'openai' || provider === 'openai-compatible';
    const baseUrl = rig.baseUrl ?? (isOpenai ? openaiBaseUrl(env) : undefined) ?? null;
    // With an address of its own, an openai-compatible rig takes no key that is for another address.
    const keyed = provider === 'openai-compatible' ? ('openai' as const) : provider;
    const fallback =
      provider === 'openai-compatible' && rig.baseUrl !== undefined ? undefined : env[PROVIDER_KEYS[keyed]];
    return {
      provider,
      id,
      name,
      model,
      baseUrl,
      apiKey: apiKey ?? (isSet(fallback) ? fallback : null),
      contextTokens: contextTokens ?? CONTEXT_TOKENS,
      ...optionsOf(rig),
    };
  });
}

/** Returns the options that a rig sets. Header names are in lower case, as no two may differ in case alone. */
function optionsOf({ headers, temperature, maxOutputTokens, tools, reasoning }: FileRig): RigOptions {
  const lowerCase = Object.entries(headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return {
    ...(headers !== undefined && { headers: Object.fromEntries(lowerCase) }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(tools !== undefined && { tools }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/**
 * The configured Apps, in order. `default` comes first unless the file lists it.
 * @param hasChains whether chains are configured: without any there are no wallet requests
 */
export function appsOf(apps: readonly FileApp[], hasChains: boolean): readonly App[] {
  const named = apps.map((app): App => ({
    name: app.name,
    instructions: app.instructions ?? INSTRUCTIONS,
    rigs: app.rigs ?? null,
    tools: app.tools ?? null,
    toolServers: app.mcp ?? [],
    secrets: (app.secrets ?? []).map(({ name, description = '', required = false }) => ({
      name,
      description,
      required,
    })),
    busyStrategy: app.busyStrategy ?? null,
    prompts: app.prompts ?? null,
    wallet: hasChains ? policyOf(app.wallet) : null,
  }));
  return named.some(({ name }) => name === DEFAULT_APP)
    ? named
    : [...appsOf([{ name: DEFAULT_APP }], hasChains), ...named];
}

/** An App that the file does not restrict may make any wallet request; null: none. */
function policyOf(given: FileApp['wallet']): WalletPolicy | null {
  if (given === null) return null;
  const { chains = null, recipients, maxValue = null, maxDailyValue = null } = given ?? {};
  const lowerCase = recipients?.map((recipient) => recipient.toLowerCase()) ?? null;
  return { chains, recipients: lowerCase, maxValue, maxDailyValue };
}

/** The configured limits per session and per App key. Null: no limit. */
export function limitsOf(
  limits:
    { readonly session?: FileLimits | undefined; readonly key?: FileLimits | undefined } | null | undefined,
): LimitSettings {
  const all = (given: FileLimits | undefined): Limits => ({
    requestsPerMinute: given?.requestsPerMinute ?? null,
    turnsPerDay: given?.turnsPerDay ?? null,
    tokensPerDay: given?.tokensPerDay ?? null,
  });
  return { session: all(limits?.session), key: all(limits?.key) };
}
