import { randomUUID } from 'node:crypto';
import { estimateTokens, promptTokens } from '../../../core/rigs/context-window.js';
import type { Rig, RigRequest } from '../../../core/ports/rig.js';
import { pacedPieces } from './pace.js';
import { makeReply } from './reply.js';
import { makeTitle } from './title.js';

/**
 * The rig `demo`: no model, no network. It answers by rule what a first look at the service needs (tools in plain words
 * or as `/tool NAME {json}`, recall of the conversation, counting) and says that it is a demo whenever it is at a loss.
 * @param settings.tokenMs milliseconds between two words; 0: as fast as it can
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
    check: () => Promise.resolve(),
  };
}

function inputTokens({ instructions, messages, tools }: RigRequest): number {
  const spoken = messages.reduce((sum, message) => sum + promptTokens(message), 0);
  return estimateTokens(instructions) + spoken + estimateTokens(JSON.stringify(tools));
}
