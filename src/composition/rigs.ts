import type { Config } from '../config.js';
import { DEMO_RIG, KEYED_PROVIDERS } from '../config/crosscheck.js';
import type { Rig } from '../core/ports/rig.js';

/**
 * Creates the rigs, in order: the configured ones, or else those of `MODEL` and the default models of each provider with
 * an API key in the environment. `demo` comes last unless it is configured.
 */
export async function createRigs(config: Config): Promise<readonly Rig[]> {
  const [{ createModelRig }, { CallMemory }, { createDemoRig }, { usualModels }] = await Promise.all([
    import('../adapters/models/create-rig.js'),
    import('../adapters/models/call-memory.js'),
    import('../adapters/models/demo/rig.js'),
    import('../adapters/models/usual-models.js'),
  ]);
  const memory = new CallMemory();
  const demo = createDemoRig({ tokenMs: config.demoTokenMs });
  if (config.rigs.length === 0) {
    const known = Object.values(usualModels).flat();
    const named = config.modelRigs.map((rig) => {
      const usual = rig.provider === 'openai' ? known.find(({ model }) => model === rig.model) : undefined;
      return createModelRig({ ...rig, ...usual }, memory);
    });
    const usual = KEYED_PROVIDERS.flatMap((provider) => {
      const apiKey = config.providerKeys[provider];
      const models = apiKey === undefined ? [] : usualModels[provider];
      return models
        .filter(({ id }) => !named.some((rig) => rig.id === id))
        .map((model) =>
          createModelRig({ ...model, provider, baseUrl: null, apiKey: apiKey ?? null }, memory),
        );
    });
    return [...named, ...usual, demo];
  }
  const rigs = config.rigs.map((rig) =>
    rig.provider === 'demo' ? renamed(demo, rig) : createModelRig(rig, memory),
  );
  return rigs.some(({ id }) => id === DEMO_RIG) ? rigs : [...rigs, demo];
}

/** Wraps a rig to give it another id and name. */
function renamed(rig: Rig, { id, name }: { readonly id: string; readonly name: string }): Rig {
  return {
    id,
    name,
    provider: rig.provider,
    contextTokens: rig.contextTokens,
    respond: (request, signal, take) => rig.respond(request, signal, take),
    attachedTokens: (sessionId, callId, isPast) => rig.attachedTokens(sessionId, callId, isPast),
    check: (signal, options) => rig.check(signal, options),
  };
}
