import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isJsonObject, type JsonObject } from '../../core/json.js';

/** One event of a stream: its id, if it has one, and its JSON. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly data: JsonObject;
}

/** Reads the events of a `text/event-stream` body until it ends. What is no JSON object is passed over. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { id, data } of ready.splice(0)) {
      const value = parseJson(data);
      if (isJsonObject(value)) yield { id, data: value };
    }
  }
}

/** The value, or undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A field that should be text; empty when it is not. */
export function textField(data: JsonObject, name: string): string {
  const value = data[name];
  return typeof value === 'string' ? value : '';
}
