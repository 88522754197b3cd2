import type { ToolProgress } from '../../client/types.js';
import type { Block, RecordedCall, ToolBlock, ViewMessage } from './view.js';

/** The blocks of the running answer after something was told of a call. */
export function withProgress(blocks: readonly Block[], told: ToolProgress): readonly Block[] {
  const { callId, name, status } = told;
  const known = blocks.find((block) => block.kind === 'tool' && block.callId === callId);
  const before = known?.kind === 'tool' ? known : undefined;
  if (before !== undefined && before.status !== 'running' && status === 'running') return blocks;
  const block: ToolBlock = {
    ...{ kind: 'tool', callId, name, status },
    args: told.args ?? before?.args ?? null,
    progress: told.message ?? before?.progress ?? null,
    result: told.result ?? before?.result ?? null,
  };
  // A state may have shown the outcome before, without the call's id.
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

/** The messages with the arguments that the history knows: by a call's id, else by the outcomes in their order. */
export function withArguments(
  messages: readonly ViewMessage[],
  calls: readonly RecordedCall[],
): readonly ViewMessage[] {
  if (calls.length === 0) return messages;
  const byId = new Map(calls.map((call) => [call.callId, call]));
  let next = calls.length - 1;
  const find = (block: ToolBlock): RecordedCall | undefined => {
    if (block.callId !== null) return byId.get(block.callId);
    for (let index = next; index >= 0; index--) {
      const call = calls[index];
      if (call?.name !== block.name || call.result !== block.result) continue;
      next = index - 1;
      return call;
    }
    return undefined;
  };
  // From the end: what is missing of the history is missing at its beginning.
  return messages
    .toReversed()
    .map((message) => {
      if (!message.blocks.some((block) => block.kind === 'tool' && block.args === null)) return message;
      const blocks = message.blocks
        .toReversed()
        .map((block) => {
          const call = block.kind === 'tool' && block.args === null ? find(block) : undefined;
          return call === undefined ? block : { ...block, callId: call.callId, args: call.args };
        })
        .toReversed();
      return { ...message, blocks };
    })
    .toReversed();
}

/** Whether arguments of a call are not known. */
export function lacksArguments(messages: readonly ViewMessage[]): boolean {
  return messages.some(({ blocks }) => blocks.some((block) => block.kind === 'tool' && block.args === null));
}

function argsOf(block: Block): ToolBlock['args'] {
  return block.kind === 'tool' ? block.args : null;
}
