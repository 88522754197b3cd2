import { randomUUID } from 'node:crypto';
import { estimateTokens, promptTokens } from '../../../core/rigs/context-window.js';
import type { Rig, RigRequest } from '../../../core/ports/rig.js';
import { pacedPieces } from './pace.js';
import { makeReply } from './reply.js';
import { makeTitle } from './title.js';

/**
 * Creates the rig `demo`, which uses neither a model nor the network. Fixed rules cover what a first look at the
 * service needs: tool calls in plain language or as `/tool NAME {json}`, recall of the conversation, counting. It
 * replies that it is a demo when it does not understand a message.
 * @param settings.tokenMs milliseconds between two words; 0: no delay
 */
export function createDemoRig(settings: { readonly tokenMs: number }): Rig {
  const respond: Rig['respond'] = async (request, signal, take) => {
    signal.throwIfAborted();
    const { text, calls } =
      request.purpose === 'title' ? { text: makeTitle(request.messages), calls: [] } : makeReply(request);
    let outputTokens = estimateTokens(text);
    for await (const piece of pacedPieces(text, settings.tokenMs, signal))
      take({ type: 'text', text: piece });
    for (const { name, args } of calls) {
      signal.throwIfAborted();
      outputTokens += estimateTokens(name) + estimateTokens(JSON.stringify(args));
      take({ type: 'tool_call', call: { callId: `call_${randomUUID()}`, name, args } });
    }
    take({ type: 'end', usage: { inputTokens: inputTokens(request), outputTokens } });
  };

  return {
    id: 'demo',
    name: 'Demo (offline)',
    provider: 'demo',
    contextTokens: 32_000,
    respond,
    attachedTokens: () => 0,
    check: () => Promise.resolve(undefined),
  };
}

function inputTokens({ instructions, messages, tools }: RigRequest): number {
  const spoken = messages.reduce((sum, message) => sum + promptTokens(message), 0);
  return estimateTokens(instructions) + spoken + estimateTokens(JSON.stringify(tools));
}
