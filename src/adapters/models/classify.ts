import {
  AISDKError,
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { isJsonObject } from '../../core/model/json.js';
import { findConnectionError, findTypeError, type ConnectionError } from './http/connection-error.js';
import { parseProviderJson } from './provider-json.js';
import { cleanLine, providerWords, type Secrets } from './provider-words.js';
import { UpstreamFault, type Fault } from './upstream-fault.js';

/** A failed HTTP response, or an error in a stream. */
export interface UpstreamAnswer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const NO_CREDIT =
  /insufficient_quota|billing|credit balance|insufficient.?(balance|credit)|payment required/i;

/** Messages about content that the provider's rules do not allow. */
const DECLINED =
  /content_filter|content_policy|content filtering policy|responsible.?ai|safety system|violates usage guidelines|requires moderation|(?:input|prompt) was flagged/i;

/**
 * Codes and messages that say what failed whatever the status is, such as a 403 that is not about the key. Groq's
 * `tool_use_failed` is a 400 for a call that the model garbled, so that a repeated request can succeed. LM Studio sends
 * the status 200 for an unknown path.
 */
const NAMED_FAULTS: readonly (readonly [RegExp, Fault])[] = [
  [/\binvalid_prompt\b/, 'declined'],
  [/\btool_use_failed\b/, 'unreadable'],
  [/\bkey limit exceeded|reached your specified (?:workspace )?api usage limits/i, 'limit'],
  [/'tools'\W{1,3}(?:array too long|maximum number of items)/i, 'tool_count'],
  [/(?:territory|location)(?: is)? not supported|unsupported_country/i, 'region'],
  [/\bunexpected endpoint or method\b/i, 'endpoint'],
];

const CODE_FAULTS: readonly (readonly [RegExp, Fault])[] = [
  [NO_CREDIT, 'credit'],
  [
    /invalid_api_key|api_key_invalid|api key not valid|incorrect api key|authentication_error|permission_error|unauthenticated/i,
    'credentials',
  ],
  [
    /context_length_exceeded|context_window|context (length|window)|maximum context|prompt is too long|request_too_large|input token count|too many (input )?tokens|exceeds? (the (available )?)?context|maximum prompt length/i,
    'context',
  ],
  [DECLINED, 'declined'],
  [/model_not_found|not_found_error|does not exist|not found for api/i, 'model'],
  [/rate_limit|resource_exhausted|too many requests/i, 'busy'],
  [/overloaded|server_error|api_error|internal|unavailable|timeout/i, 'broken'],
  [/invalid_request/i, 'refused'],
];

/** Statuses of a model, or of a server of models, that takes no tools. */
const NO_TOOLS_STATUSES: readonly (number | undefined)[] = [undefined, 400, 404, 405, 422, 500, 501];

/** The messages of Ollama, OpenRouter, vLLM, llama.cpp, Google, Groq and OpenAI about a model that takes no tools. */
const NO_TOOLS =
  /(?:not|endpoints found that) support '?(?:the use of )?(?:tools?|functions?)\b|enable-auto-tool-choice|\btools? param(?:eter)? requires|\b(?:tools?|functions?)(?:[ _-](?:use|choice|call(?:s|ing)?))?['"`]? (?:is|are) (?:not (?:enabled|supported|available)|unsupported|disabled)|unsupported (?:parameter|value)[^.]{0,20}\btools?\b/i;

/** Messages about a model that does not exist, without a code that says so. */
const NO_MODEL =
  /\bmodel\b[^.]{0,120}\b(?:not found|not exist|is not available)|(?:not a valid|invalid|unknown|no such) model\b/i;

const CONNECTION_FAULTS: Record<ConnectionError['fault'], Fault> = {
  unreachable: 'unreachable',
  connect_timeout: 'unreachable',
  idle: 'silent',
  cut: 'cut',
};

/**
 * Classifies a failed HTTP response.
 * @param secrets what the provider's words must not show
 */
export function faultOfAnswer(answer: UpstreamAnswer, secrets: Secrets): UpstreamFault {
  const { status, body, headers } = answer;
  const requestId = headers['x-request-id'] ?? headers['request-id'];
  const code = codeIn(body, secrets);
  const words = providerWords(body, secrets);
  return new UpstreamFault(faultOf(status, body, words), {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(requestId !== undefined && /^[\w-]{1,100}$/.test(requestId) ? { requestId } : {}),
    ...(words === undefined ? {} : { words }),
  });
}

/**
 * Classifies an error that a provider package threw or put into its stream.
 * @param secrets what the provider's words must not show
 */
export function classify(
  error: unknown,
  secrets: Secrets,
): { fault: UpstreamFault; answer?: UpstreamAnswer } {
  if (error instanceof UpstreamFault) return { fault: error };
  const connection = findConnectionError(error);
  if (connection !== undefined) {
    const { fault, code } = connection;
    const details = code === undefined ? {} : { code };
    return { fault: new UpstreamFault(CONNECTION_FAULTS[fault], details, { cause: connection }) };
  }
  if (APICallError.isInstance(error) && (error.statusCode ?? 0) >= 300) {
    const answer = {
      status: error.statusCode,
      headers: error.responseHeaders ?? {},
      body: error.responseBody ?? '',
    };
    return { fault: faultOfAnswer(answer, secrets), answer };
  }
  if (isUnsent(error)) {
    const unsupported = UnsupportedFunctionalityError.isInstance(error) ? `${error.functionality}: ` : '';
    const words = cleanLine(`not sent: ${unsupported}${error.message}`, secrets);
    return { fault: new UpstreamFault('refused', { code: error.name, words }) };
  }
  // The packages report a stream that closed without a finish reason in this way.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined) {
    return { fault: new UpstreamFault('cut') };
  }
  // Its cause is not the error of the package, which contains the request.
  const bug = findTypeError(error);
  if (bug !== undefined) return { fault: new UpstreamFault('defect', { code: 'TypeError' }, { cause: bug }) };
  if (AISDKError.isInstance(error)) return { fault: new UpstreamFault('unreadable', { code: error.name }) };
  if (isJsonObject(error) && !(error instanceof Error)) {
    const answer = { status: statusIn(error), headers: {}, body: JSON.stringify({ error }) };
    return { fault: faultOfAnswer(answer, secrets), answer };
  }
  return { fault: new UpstreamFault('unreadable', {}, { cause: error }) };
}

/** True for a package's error about a request that it cannot express in the provider's format, and has not sent. */
function isUnsent(error: unknown): error is Error {
  return [UnsupportedFunctionalityError, InvalidPromptError, InvalidArgumentError].some((type) =>
    type.isInstance(error),
  );
}

function faultOf(status: number | undefined, body: string, words = ''): Fault {
  if (NO_TOOLS_STATUSES.includes(status) && NO_TOOLS.test(words)) return 'tools';
  const said = [...codesIn(body), words].join(' ');
  const named = NAMED_FAULTS.find(([pattern]) => pattern.test(said))?.[1];
  if (named !== undefined) return named;
  if (status === 403 && DECLINED.test(said)) return 'declined';
  if (status === 401 || status === 403) return 'credentials';
  if (status === 402) return 'credit';
  if (status === 404) return 'model';
  if (status === 413) return 'context';
  if (status === 429) return NO_CREDIT.test(codesIn(body).join(' ')) ? 'credit' : 'busy';
  if (status !== undefined && (status >= 500 || status === 408 || status === 409 || status === 425))
    return 'broken';
  if (status !== undefined && status >= 300 && status < 400) return 'endpoint';
  const found = CODE_FAULTS.find(([pattern]) => pattern.test(body))?.[1];
  const known = (found === undefined || found === 'refused') && NO_MODEL.test(words) ? 'model' : found;
  if (status === undefined) return known ?? 'broken';
  // A 4xx status is not retryable, even if the body matches a retryable pattern.
  return known === undefined || known === 'broken' || known === 'busy' ? 'refused' : known;
}

/** The provider's error code, if it is a single word that shows no secret. */
function codeIn(body: string, secrets: Secrets): string | undefined {
  return codesIn(body).find(
    (code) => /^[a-zA-Z0-9_.-]{1,64}$/.test(code) && cleanLine(code, secrets) === code,
  );
}

function codesIn(body: string): string[] {
  const error = errorIn(body);
  if (error === undefined) return [];
  return [error.code, error.type, error.status].flatMap((code) => (typeof code === 'string' ? [code] : []));
}

function statusIn(error: object): number | undefined {
  const fields: Record<string, unknown> = { ...error };
  const status = [fields.status, fields.code, fields.statusCode].find((value) => typeof value === 'number');
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined;
}

function errorIn(body: string): Record<string, unknown> | undefined {
  try {
    const parsed = parseProviderJson(body);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isJsonObject(first)) return undefined;
    return isJsonObject(first.error) ? first.error : first;
  } catch {
    return undefined;
  }
}
