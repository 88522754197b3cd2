import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { TurnChunks, isDiscarded } from '../../../src/client/ai-sdk/turn-chunks.js';
import type { SessionEvent } from '../../../src/client/types.js';

/** Converts the events of a turn to chunks. */
export function chunksOf(events: readonly SessionEvent[]): UIMessageChunk[] {
  const turn = new TurnChunks();
  return events.flatMap((event) => [...turn.of(event)]);
}

/** Returns the message that the AI SDK builds from chunks. */
export async function messageOf(chunks: readonly UIMessageChunk[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  return last;
}

/** Summarizes the parts of a message: text as it is, tool calls as `name(input) → outcome`. */
export function partsOf(message: UIMessage | undefined): string[] {
  return (message?.parts ?? []).flatMap((part) => {
    if (part.type === 'text') return isDiscarded(part) ? [] : [part.text];
    if (part.type !== 'dynamic-tool') return [`unexpected ${part.type}`];
    const outcome = part.state === 'output-available' ? JSON.stringify(part.output) : part.errorText;
    return [`${part.toolName}(${JSON.stringify(part.input)}) → ${outcome ?? part.state}`];
  });
}
