import { CONTEXT_TOKENS, DEMO_RIG, isSet, openaiBaseUrl, PROVIDER_KEYS, RIG_ID } from './crosscheck.js';
import type { RigConfig } from './contents.js';
import type { Mistake } from './mistakes.js';
import { isWebUrl, listed } from './settings.js';

/** A rig that `MODEL` registers. */
export type ModelRig = Exclude<RigConfig, { readonly provider: 'demo' }>;

type Environment = Readonly<Record<string, string | undefined>>;

const EXAMPLE = 'such as http://127.0.0.1:11434/v1';

/**
 * Returns the rigs that `MODEL` names: at `OPENAI_BASE_URL` with `OPENAI_API_KEY` or without a key, or else those of
 * OpenAI.
 */
export function modelRigs(env: Environment): readonly ModelRig[] {
  const baseUrl = openaiBaseUrl(env) ?? null;
  const key = env[PROVIDER_KEYS.openai];
  const provider = baseUrl === null ? 'openai' : 'openai-compatible';
  return namesIn(env).map((model) => ({
    ...{ provider, id: model, name: model, model, baseUrl },
    apiKey: isSet(key) ? key : null,
    contextTokens: CONTEXT_TOKENS,
  }));
}

/**
 * Finds mistakes in `OPENAI_BASE_URL` and `MODEL`. Never quotes the URL, which may contain credentials.
 * @param hasRigs whether the file lists rigs, so that `MODEL` registers none
 */
export function modelMistakes(
  env: Environment,
  { hasRigs }: { readonly hasRigs: boolean },
): readonly Mistake[] {
  const baseUrl = openaiBaseUrl(env);
  const url = baseUrl === undefined ? [] : urlMistakes(baseUrl);
  if (hasRigs) return url;
  const { MODEL: model } = env;
  const names = namesIn(env);
  if (isSet(model) && names.length === 0) {
    return [...url, { where: 'MODEL', what: 'must name at least one model' }];
  }
  if (baseUrl !== undefined && names.length === 0) {
    const what =
      'is needed with OPENAI_BASE_URL: the name of a model there, such as llama3.2, or several separated by commas';
    return [...url, { where: 'MODEL', what }];
  }
  if (baseUrl === undefined && names.length > 0 && !isSet(env[PROVIDER_KEYS.openai])) {
    const what = `is needed with MODEL: the URL that ends before /chat/completions, ${EXAMPLE}; or set OPENAI_API_KEY for a model of OpenAI`;
    return [{ where: 'OPENAI_BASE_URL', what }];
  }
  const wrong = names
    .filter((name) => !RIG_ID.test(name))
    .map(() => 'must have names of 1 to 128 printable characters without blanks, separated by commas');
  const taken = names.includes(DEMO_RIG) ? [`must not name ${DEMO_RIG}, which is the built-in rig`] : [];
  return [...url, ...[...wrong.slice(0, 1), ...taken].map((what) => ({ where: 'MODEL', what }))];
}

function urlMistakes(url: string): readonly Mistake[] {
  const where = 'OPENAI_BASE_URL';
  if (!isWebUrl(url)) return [{ where, what: `must be an http or https URL, ${EXAMPLE}` }];
  const { pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '') return [{ where, what: 'must have no query and no fragment' }];
  return /\/(?:chat\/completions|responses|models)\/*$/.test(pathname)
    ? [{ where, what: `must be the URL that ends before /chat/completions, ${EXAMPLE}` }]
    : [];
}

function namesIn({ MODEL: model }: Environment): readonly string[] {
  return isSet(model) ? [...new Set(listed(model))] : [];
}
