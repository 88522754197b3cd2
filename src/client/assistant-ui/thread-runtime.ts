import {
  useExternalStoreRuntime,
  type AppendMessage,
  type AssistantRuntime,
  type ThreadMessageLike,
} from '@assistant-ui/react';
import { useMemo } from 'react';
import { isBusy, type Block, type View, type ViewMessage } from '../view/view.js';

/** The user's actions in a thread. */
export interface Actions {
  readonly send: (text: string) => Promise<void>;
  readonly interrupt: () => Promise<void>;
}

/** Connects the chat library's components to the messages of a view and to the actions. */
export function useThreadRuntime(
  view: View,
  messages: readonly ViewMessage[],
  { send, interrupt }: Actions,
): AssistantRuntime {
  const queue = useMemo(() => {
    const enqueue = (message: AppendMessage): void => {
      void send(textOf(message));
    };
    const items = view.queued.map((text, index) => ({
      ...{ id: String(index), prompt: text, parts: [{ type: 'text' as const, text }] },
    }));
    // The service keeps the queue in order of arrival, so items cannot be moved or edited.
    const fixed = (): void => undefined;
    return { items, steerItems: [], enqueue, steer: enqueue, move: fixed, edit: fixed, remove: fixed };
  }, [view.queued, send]);
  return useExternalStoreRuntime<ViewMessage>({
    messages,
    convertMessage: convert,
    isRunning: isBusy(view),
    queue,
    onNew: (message) => send(textOf(message)),
    onCancel: interrupt,
  });
}

/** Puts texts that were not sent back into the message input, before what is being written there. */
export function restore(runtime: AssistantRuntime, texts: readonly string[]): void {
  const { composer } = runtime.thread;
  if (texts.length > 0)
    composer.setText([...texts, composer.getState().text].filter((text) => text !== '').join('\n\n'));
}

function convert({ id, role, blocks }: ViewMessage): ThreadMessageLike {
  if (role !== 'assistant') {
    return {
      id,
      role,
      content: blocks.map((block) => ({ type: 'text', text: block.kind === 'text' ? block.text : '' })),
    };
  }
  return { id, role, content: blocks.map((block, index) => partOf(block, `${id}.${String(index)}`)) };
}

function partOf(block: Block, place: string): Exclude<ThreadMessageLike['content'], string>[number] {
  if (block.kind === 'text') return { type: 'text', text: block.text };
  const { callId, name, args, result, status, progress } = block;
  return {
    ...{ type: 'tool-call', toolCallId: callId ?? place, toolName: name, artifact: progress },
    ...{ args: args ?? {}, argsText: args === null ? '' : JSON.stringify(args, null, 2) },
    ...(status !== 'running' && { result: result ?? '', isError: status === 'failed' }),
  };
}

function textOf({ content }: AppendMessage): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}
