import { isJsonObject } from '../../core/model/json.js';
import { classify, faultOfAnswer } from './classify.js';
import { cleanLine, secretsOf } from './provider-words.js';
import { operatorError, UpstreamFault } from './upstream-fault.js';
import { BASE_URLS, type Endpoint } from './endpoint.js';

const ANTHROPIC_VERSION = '2023-06-01';
/** How many models a message names, and how long a name may be, in characters. */
const MAX_NAMED = 12;
const MAX_NAME = 80;

/**
 * Checks an endpoint by requesting its list of models, which is free. The model must be in the list if the list is the
 * provider's own.
 * @returns a warning when another list lacks the model
 * @throws RigError with a message for the operator, or the reason of `signal`
 */
export async function checkEndpoint(
  rigId: string,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<string | undefined> {
  let models: readonly string[];
  try {
    models = await listModels(endpoint, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw operatorError(rigId, classify(error, secretsOf(endpoint)).fault);
  }
  if (models.length === 0 || hasModel(models, endpoint.model)) return undefined;
  if (isOwnList(endpoint)) throw unknownModel(rigId, new UpstreamFault('model'), { endpoint, models });
  return `lists ${lackOf(endpoint, models)}`;
}

/**
 * Returns the error for a model that the provider does not know. Lists the models that it has, if its list can be read
 * and lacks the model.
 */
export async function explainUnknownModel(
  rigId: string,
  fault: UpstreamFault,
  { endpoint, signal }: { readonly endpoint: Endpoint; readonly signal: AbortSignal },
): Promise<Error> {
  const models = await listModels(endpoint, signal).catch(() => []);
  return models.length === 0 || hasModel(models, endpoint.model)
    ? operatorError(rigId, fault)
    : unknownModel(rigId, fault, { endpoint, models });
}

function unknownModel(
  rigId: string,
  fault: UpstreamFault,
  { endpoint, models }: { readonly endpoint: Endpoint; readonly models: readonly string[] },
): Error {
  return operatorError(rigId, fault, lackOf(endpoint, models));
}

/** Returns words for the lack of the endpoint's model, with the models that there are. */
function lackOf(endpoint: Endpoint, models: readonly string[]): string {
  const { model } = endpoint;
  // Those that begin like the configured one come first.
  const sorted = models.toSorted((a, b) => sharedLength(b, model) - sharedLength(a, model));
  const secrets = secretsOf(endpoint);
  const named = sorted.slice(0, MAX_NAMED).map((name) => cleanLine(name, secrets, MAX_NAME));
  const more = models.length > MAX_NAMED ? ` and ${String(models.length - MAX_NAMED)} more` : '';
  return `no model of the name ${model}; there are ${named.join(', ')}${more}`;
}

/**
 * Requests the names of the models that a provider has; empty if its list has another form.
 * @throws UpstreamFault, or the error of the request
 */
async function listModels(endpoint: Endpoint, signal: AbortSignal): Promise<readonly string[]> {
  const { path, headers } = listRequest(endpoint);
  const response = await endpoint.fetch(`${endpoint.baseUrl}${path}`, {
    headers: { ...endpoint.options.headers, ...headers },
    signal,
  });
  const body = await response.text();
  if (!response.ok) {
    const answer = { status: response.status, headers: Object.fromEntries(response.headers), body };
    throw faultOfAnswer(answer, secretsOf(endpoint));
  }
  const listed = parseList(body);
  if (!isJsonObject(listed)) return [];
  const entries = endpoint.provider === 'google' ? listed.models : listed.data;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    if (!isJsonObject(entry)) return [];
    const id = entry.id ?? entry.name;
    return typeof id === 'string' ? [id.replace(/^models\//, '')] : [];
  });
}

function listRequest({ provider, apiKey }: Endpoint): { path: string; headers: Record<string, string> } {
  const key = apiKey ?? '';
  switch (provider) {
    case 'openai-compatible':
    case 'openai':
      return { path: '/models', headers: key === '' ? {} : { authorization: `Bearer ${key}` } };
    case 'anthropic':
      return {
        path: '/models?limit=1000',
        headers: { 'x-api-key': key, 'anthropic-version': ANTHROPIC_VERSION },
      };
    case 'google':
      return { path: '/models?pageSize=1000', headers: { 'x-goog-api-key': key } };
  }
}

function parseList(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new UpstreamFault('endpoint', {}, { cause: error });
  }
}

/** True if a list is the provider's own. Lists of proxies may lack models that they pass on. */
function isOwnList({ provider, baseUrl }: Endpoint): boolean {
  return provider !== 'openai-compatible' && baseUrl === BASE_URLS[provider];
}

/** True if a list has the model, or a longer name that it stands for, such as `llama3.2:latest`. */
function hasModel(models: readonly string[], model: string): boolean {
  return models.some((id) => id === model || id.startsWith(`${model}-`) || id === `${model}:latest`);
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
