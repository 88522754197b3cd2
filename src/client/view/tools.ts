import type { HistoryCall, ToolProgress } from '../types.js';
import type { Block, ToolBlock, ViewMessage } from './view.js';

/** Applies the progress of a tool call to the blocks of the running reply. */
export function withProgress(blocks: readonly Block[], reported: ToolProgress): readonly Block[] {
  const { callId, name, status } = reported;
  const known = blocks.find((block) => block.kind === 'tool' && block.callId === callId);
  const before = known?.kind === 'tool' ? known : undefined;
  if (before !== undefined && before.status !== 'running' && status === 'running') return blocks;
  const block: ToolBlock = {
    ...{ kind: 'tool', callId, name, status },
    args: reported.args ?? before?.args ?? null,
    progress: reported.message ?? before?.progress ?? null,
    result: reported.result ?? before?.result ?? null,
  };
  // A state may already have shown the result, without the call's id.
  const twin = blocks.find(
    (other) =>
      other.kind === 'tool' && other.callId === null && other.name === name && other.result === block.result,
  );
  if (twin !== undefined) {
    return blocks
      .filter((other) => other !== before)
      .map((other) => (other === twin ? { ...block, args: block.args ?? argsOf(twin) } : other));
  }
  if (before !== undefined) return blocks.map((other) => (other === before ? block : other));
  return [...blocks, block];
}

/**
 * Adds arguments and failures from the history to the tool calls of messages. Matches calls by id, otherwise by result
 * in order.
 */
export function withArguments(
  messages: readonly ViewMessage[],
  calls: readonly HistoryCall[],
): readonly ViewMessage[] {
  if (calls.length === 0) return messages;
  const byId = new Map(calls.map((call) => [call.callId, call]));
  let next = calls.length - 1;
  const find = (block: ToolBlock): HistoryCall | undefined => {
    if (block.callId !== null) return byId.get(block.callId);
    for (let index = next; index >= 0; index--) {
      const call = calls[index];
      if (call?.name !== block.name || call.result !== block.result) continue;
      next = index - 1;
      return call;
    }
    return undefined;
  };
  /**
   * @param taken the ids of calls that the message already shows: a progress block may briefly exist beside its result
   */
  const completed = (block: Block, taken: Set<string>): Block => {
    const call = block.kind === 'tool' ? find(block) : undefined;
    if (block.kind !== 'tool' || call === undefined) return block;
    const status = call.failed ? 'failed' : block.status;
    if (block.args !== null && block.status === status) return block;
    const callId = block.callId ?? (taken.has(call.callId) ? null : call.callId);
    taken.add(call.callId);
    return { ...block, callId, args: block.args ?? call.args, status };
  };
  // From the end, because the history may lack calls at its beginning.
  return messages
    .toReversed()
    .map((message) => {
      const taken = new Set(
        message.blocks.flatMap((block) => (block.kind === 'tool' ? [block.callId ?? ''] : [])),
      );
      const blocks = message.blocks
        .toReversed()
        .map((block) => completed(block, taken))
        .toReversed();
      return blocks.every((block, index) => block === message.blocks[index])
        ? message
        : { ...message, blocks };
    })
    .toReversed();
}

/** Adds the progress of a call to the known calls, because later states leave its arguments out. */
export function noted(calls: readonly HistoryCall[], reported: ToolProgress): readonly HistoryCall[] {
  const { callId, name } = reported;
  const before = calls.find((call) => call.callId === callId);
  const args = reported.args ?? before?.args;
  if (args === undefined) return calls;
  const failed = reported.status === 'failed' || before?.failed === true;
  const call = { callId, name, args, result: reported.result ?? before?.result ?? null, failed };
  return before === undefined ? [...calls, call] : calls.map((other) => (other === before ? call : other));
}

/** Returns the number of calls without known arguments. */
export function countUnknown(messages: readonly ViewMessage[]): number {
  return messages
    .flatMap(({ blocks }) => blocks)
    .filter((block) => block.kind === 'tool' && block.args === null).length;
}

function argsOf(block: Block): ToolBlock['args'] {
  return block.kind === 'tool' ? block.args : null;
}
