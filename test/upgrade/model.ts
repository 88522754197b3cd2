import { setTimeout as sleep } from 'node:timers/promises';
import { ModelRequest, sayTitle } from '../proof/model-request.js';
import { endChunk, startUpstream, textChunk, type Upstream } from '../support/upstream.js';

/** The time between two pieces of a reply, in milliseconds. */
const PACE = { short: 20, long: 200 } as const;
const PIECES = Array.from({ length: 40 }, (_, n) => ` ${String(n)}`);

/** What the model says to a message. */
export function replyTo(text: string): string {
  return [`The reply to ${text}:`, ...PIECES].join('');
}

/** A scripted provider. */
export interface Model {
  readonly upstream: Upstream;
  /** How often it was asked for the reply to a message. */
  timesAsked(text: string): number;
  /** Resolves once it was asked for the reply to a message. */
  whenAsked(text: string): Promise<void>;
}

/** Starts a provider whose replies take 0.8 s, or 8 s for messages that begin with `long`. */
export async function startModel(): Promise<Model> {
  const asked = new Map<string, number>();
  const awaited = new Map<string, () => void>();
  const upstream = await startUpstream();
  upstream.always(async (reply, request) => {
    const { messages, tools } = ModelRequest.parse(request.body);
    if (tools.length === 0) {
      await sayTitle(reply, request);
      return;
    }
    const text = messages.at(-1)?.content ?? '';
    asked.set(text, (asked.get(text) ?? 0) + 1);
    awaited.get(text)?.();
    const pace = text.startsWith('long') ? PACE.long : PACE.short;
    reply.open();
    reply.event(textChunk(`The reply to ${text}:`));
    for (const piece of PIECES) {
      await sleep(pace);
      reply.event(textChunk(piece));
    }
    reply.event(endChunk());
    reply.event('[DONE]');
  });
  return {
    upstream,
    timesAsked: (text) => asked.get(text) ?? 0,
    whenAsked: (text) =>
      new Promise((resolve) => {
        awaited.set(text, resolve);
        if (asked.has(text)) resolve();
      }),
  };
}
