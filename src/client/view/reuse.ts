import { isSameOrigin } from './history.js';
import type { Block, ViewMessage } from './view.js';

/**
 * Returns the messages `after`, with unchanged ones replaced by their objects from `before`, so that they are not
 * rendered again.
 */
export function reused(
  before: readonly ViewMessage[],
  after: readonly ViewMessage[],
): readonly ViewMessage[] {
  return after.map((message, index) => {
    const old = before[index];
    return old !== undefined && isSame(old, message) ? old : message;
  });
}

function isSame(one: ViewMessage, other: ViewMessage): boolean {
  return (
    one.id === other.id &&
    one.role === other.role &&
    one.at === other.at &&
    one.fate === other.fate &&
    isSameOrigin(one.origin, other.origin) &&
    one.blocks.length === other.blocks.length &&
    one.blocks.every((block, index) => isSameBlock(block, other.blocks[index]))
  );
}

function isSameBlock(one: Block, other: Block | undefined): boolean {
  if (one.kind === 'text') return other?.kind === 'text' && one.text === other.text;
  return (
    other?.kind === 'tool' &&
    one.callId === other.callId &&
    one.name === other.name &&
    one.status === other.status &&
    one.result === other.result &&
    JSON.stringify(one.args) === JSON.stringify(other.args)
  );
}
