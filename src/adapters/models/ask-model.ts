import { RigError, type Rig, type RigRequest } from '../../core/ports/rig.js';
import { explainUnknownModel } from './check-endpoint.js';
import type { Endpoint } from './endpoint.js';
import { operatorError, UpstreamFault } from './upstream-fault.js';

/** A request of the form that the service sends, with a tool. */
const QUESTION: RigRequest = {
  purpose: 'answer',
  instructions: 'Answer with one word. Call no tool.',
  messages: [{ role: 'user', content: 'Say OK.' }],
  tools: [
    {
      name: 'get_time',
      description: 'Returns the current time.',
      parameters: { type: 'object', properties: {} },
    },
  ],
};

/**
 * Makes one small model request with a tool, which may be billed. Closes it at the first text.
 * @throws RigError with a message for the operator, or the reason of `signal`
 */
export async function askModel(
  rigId: string,
  { endpoint, respond }: { readonly endpoint: Endpoint; readonly respond: Rig['respond'] },
  signal: AbortSignal,
): Promise<void> {
  const call = new AbortController();
  const abort = (): void => {
    call.abort(signal.reason);
  };
  signal.throwIfAborted();
  signal.addEventListener('abort', abort, { once: true });
  const response = { hasBegun: false };
  try {
    await respond(QUESTION, call.signal, () => {
      response.hasBegun = true;
      // Closed later, because the adapter is within a call of `take`.
      queueMicrotask(() => {
        call.abort();
      });
    });
  } catch (error) {
    signal.throwIfAborted();
    if (response.hasBegun) return;
    const fault = error instanceof RigError ? error.cause : undefined;
    if (!(fault instanceof UpstreamFault)) throw error;
    // A model that reasons until its output limit did answer.
    if (fault.fault === 'length') return;
    throw fault.fault === 'model'
      ? await explainUnknownModel(rigId, fault, { endpoint, signal })
      : operatorError(rigId, fault);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
