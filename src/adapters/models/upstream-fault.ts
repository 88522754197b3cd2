import { RigError } from '../../core/ports/rig.js';

/** The kinds of failure of a model call, as far as the user or the operator can act on them. */
export type Fault =
  | 'credentials'
  | 'region'
  | 'credit'
  | 'limit'
  | 'model'
  | 'tools'
  | 'tool_count'
  | 'context'
  | 'refused'
  | 'declined'
  | 'busy'
  | 'broken'
  | 'unreachable'
  | 'silent'
  | 'cut'
  | 'unreadable'
  | 'defect'
  | 'length'
  | 'endpoint';

interface Words {
  readonly retryable: boolean;
  /** For the user: what happened and what to do. */
  readonly user: string;
  /** For the operator; follows `Rig "id": `. */
  readonly operator: string;
}

const WORDS: Record<Fault, Words> = {
  credentials: {
    retryable: false,
    user: "The model's provider did not accept this service's credentials. Choose another model, or ask the operator to check the API key.",
    operator:
      'the provider did not accept the API key. Check that it is set, valid, and allowed to use this model.',
  },
  region: {
    retryable: false,
    user: "The model's provider is not available from where this service runs. Choose another model, or ask the operator.",
    operator: 'the provider does not serve the country or region of this server.',
  },
  credit: {
    retryable: false,
    user: "This service's account with the model's provider has no credit left. Choose another model, or ask the operator to top it up.",
    operator: 'the account with the provider has no credit or quota left.',
  },
  limit: {
    retryable: false,
    user: "This service's account with the model's provider has reached its spending limit. Choose another model, or ask the operator to raise it.",
    operator: 'the API key, or its account, has reached its spending limit. Raise it at the provider.',
  },
  model: {
    retryable: false,
    user: "The model's provider does not know this model. Choose another one, or ask the operator to check its configuration.",
    operator:
      'the provider does not know this model or path. Check model and baseUrl (it usually ends in /v1).',
  },
  tools: {
    retryable: false,
    user: 'This model cannot use tools, and the service offered it some. Choose another model, or ask the operator to turn its tools off.',
    operator: 'this model takes no tools: set `tools: false` for its rig in the configuration file.',
  },
  tool_count: {
    retryable: false,
    user: 'The service offers this model more tools than its provider accepts. Choose another model, or ask the operator to offer fewer.',
    operator:
      "the provider accepts fewer tools than the App has. Name fewer in the App's `tools`, or set `tools: false` for the rig.",
  },
  context: {
    retryable: false,
    user: 'The conversation has grown too long for this model. Send a shorter message, start a new conversation, or choose a model with a larger context.',
    operator: 'the request is too large for the model. Check contextTokens.',
  },
  refused: {
    retryable: false,
    user: "The model's provider did not accept the request. Choose another model, or start a new conversation.",
    operator: 'the provider did not accept the request.',
  },
  declined: {
    retryable: false,
    user: "The model's provider stopped the answer under its content rules. Say it in other words, or choose another model.",
    operator: 'the provider stopped the answer under its content rules.',
  },
  busy: {
    retryable: true,
    user: 'The model is getting more requests than it takes at the moment. Wait a little and send your message again, or choose another model.',
    operator: 'the provider limits the rate of requests. Try again later.',
  },
  broken: {
    retryable: true,
    user: "The model's provider has a problem at the moment. Send your message again later, or choose another model.",
    operator: 'the provider has an internal problem or is overloaded. Try again later.',
  },
  unreachable: {
    retryable: true,
    user: "The model's provider cannot be reached at the moment. Send your message again later, or choose another model.",
    operator: 'the provider cannot be reached. Check baseUrl and the network.',
  },
  silent: {
    retryable: true,
    user: 'The model did not answer in time. Send your message again, or choose another model.',
    operator: 'the provider did not answer in time. Check baseUrl and the network.',
  },
  cut: {
    retryable: true,
    user: 'The connection was cut before the answer was complete. Send your message again.',
    operator: 'the connection was cut before the answer was complete.',
  },
  unreadable: {
    retryable: true,
    user: "The model's answer could not be read. Send your message again, or choose another model.",
    operator: 'the answer could not be read.',
  },
  defect: {
    retryable: false,
    user: "The model's answer could not be read. Choose another model, or tell the operator.",
    operator: 'an error in this service, or in the package for the provider, while it read the answer.',
  },
  length: {
    retryable: false,
    user: 'The model ran out of room before it could answer. Ask for something shorter, start a new conversation, or choose another model.',
    operator: 'the model reached its output limit before it said anything.',
  },
  endpoint: {
    retryable: false,
    user: 'This model is not set up correctly. Choose another one, or ask the operator to check its address.',
    operator: 'what answers at baseUrl is not a model API. Check it (it usually ends in /v1).',
  },
};

/** What the user reads instead when the request carried the client's own key. */
const OWN_KEY_WORDS: Partial<Record<Fault, (provider: string) => string>> = {
  credentials: (provider) =>
    `Your key for ${provider} was refused. Store another one, or delete it to use the service's own.`,
  credit: (provider) =>
    `Your account for the key for ${provider} has no credit left. Top it up, store another key, or delete it to use the service's own.`,
  limit: (provider) =>
    `Your key for ${provider} has reached its spending limit. Raise it, store another key, or delete it to use the service's own.`,
  model: (provider) =>
    `The model's provider does not know this model, or your key for ${provider} may not use it. Choose another model, or store another key.`,
};

interface FaultDetails {
  readonly status?: number;
  readonly code?: string;
  readonly requestId?: string;
  /** The provider's message, for the operator: one line of bounded length without credentials. */
  readonly words?: string;
}

/** A failed model call. Its message contains nothing that the provider or a user wrote, except an error code. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly words: string | undefined;

  constructor(
    readonly fault: Fault,
    { words, ...details }: FaultDetails = {},
    options?: ErrorOptions,
  ) {
    const known = Object.entries(details).map(([name, value]) => `${name} ${String(value)}`);
    super([`provider: ${fault}`, ...known].join(', '), options);
    this.status = details.status;
    this.code = details.code;
    this.words = words;
  }
}

/**
 * The error with a message for the user.
 * @param keyOf the provider, if the request carried the client's own key
 */
export function rigError(
  cause: UpstreamFault,
  {
    retryAfterMs,
    keyOf,
  }: { readonly retryAfterMs?: number | undefined; readonly keyOf?: string | undefined },
): RigError {
  const { user, retryable } = WORDS[cause.fault];
  const words = keyOf === undefined ? undefined : OWN_KEY_WORDS[cause.fault]?.(keyOf);
  const whose = keyOf === undefined ? '' : "with the client's own key: ";
  return new RigError(
    words ?? user,
    { retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    { cause, reason: `${whose}${operatorWords(cause)}` },
  );
}

/**
 * The error with a message for the operator, which names the rig, the HTTP status and the provider's words.
 * @param words what to say instead of the usual words for the fault
 */
export function operatorError(rigId: string, cause: UpstreamFault, words?: string): RigError {
  const { retryable } = WORDS[cause.fault];
  return new RigError(`Rig "${rigId}": ${operatorWords(cause, words)}`, { retryable }, { cause });
}

/** What the operator reads of a fault: `words (HTTP 404, code: the provider's message)`. */
function operatorWords({ fault, status, code, words }: UpstreamFault, own = WORDS[fault].operator): string {
  const known = [status === undefined ? [] : `HTTP ${String(status)}`, code ?? []].flat().join(', ');
  const details = [known, words ?? ''].filter((part) => part !== '').join(': ');
  return details === '' ? own : `${own} (${details})`;
}
