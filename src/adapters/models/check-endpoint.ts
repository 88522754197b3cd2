import { isJsonObject } from '../../core/model/json.js';
import { classify, faultOfAnswer } from './classify.js';
import { operatorError, UpstreamFault } from './upstream-fault.js';
import { BASE_URLS, type Endpoint } from './endpoint.js';

const ANTHROPIC_VERSION = '2023-06-01';

/**
 * Checks an endpoint by requesting its list of models, which is free. The model must be in the list if the list is the
 * provider's own.
 * @throws RigError with a message for the operator, or the reason of `signal`
 */
export async function checkEndpoint(rigId: string, endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  let listed: unknown;
  try {
    const { path, headers } = listRequest(endpoint);
    const response = await endpoint.fetch(`${endpoint.baseUrl}${path}`, {
      headers: { ...endpoint.options.headers, ...headers },
      signal,
    });
    const body = await response.text();
    if (!response.ok) {
      throw faultOfAnswer({ status: response.status, headers: Object.fromEntries(response.headers), body });
    }
    listed = parseList(body);
  } catch (error) {
    signal.throwIfAborted();
    throw operatorError(rigId, classify(error).fault);
  }
  if (lacksModel(listed, endpoint)) throw operatorError(rigId, new UpstreamFault('model'));
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

/**
 * True when the provider's own list lacks the model. Lists of proxies are not trusted. An alias counts as listed when
 * the list has the longer name that it stands for.
 */
function lacksModel(listed: unknown, { provider, model, baseUrl }: Endpoint): boolean {
  if (provider === 'openai-compatible' || baseUrl !== BASE_URLS[provider] || !isJsonObject(listed))
    return false;
  const entries = provider === 'google' ? listed.models : listed.data;
  if (!Array.isArray(entries) || entries.length === 0) return false;
  const ids = entries.flatMap((entry: unknown) => {
    if (!isJsonObject(entry)) return [];
    const id = entry.id ?? entry.name;
    return typeof id === 'string' ? [id.replace(/^models\//, '')] : [];
  });
  return !ids.some((id) => id === model || id.startsWith(`${model}-`));
}
