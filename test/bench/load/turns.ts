import { randomUUID } from 'node:crypto';
import { sleep } from '../machine.js';
import { requestBytes, type Asker } from './lane.js';
import type { Work } from './measure.js';
import { TokenCount } from './tokens.js';

/** Each worker goes on with its thread for so many turns, then begins another. */
const TURNS_A_THREAD = 10;

/** Hands out session ids: the same to a worker for a number of turns. */
export class Conversations {
  readonly #of = new Map<number, { id: string; left: number }>();

  constructor(private readonly turns = TURNS_A_THREAD) {}

  next(worker: number): string {
    let conversation = this.#of.get(worker);
    if (conversation === undefined || conversation.left === 0) {
      conversation = { id: randomUUID(), left: this.turns };
      this.#of.set(worker, conversation);
    }
    conversation.left--;
    return conversation.id;
  }
}

/** A turn that is streamed. */
export interface Turn {
  readonly sessionId: string;
  readonly tokens: number;
  /** Milliseconds between two tokens; 0: flat out. */
  readonly pace: number;
}

export function chatRequest({ sessionId, tokens, pace }: Turn): Buffer {
  const headers = { 'X-Session-Id': sessionId, 'Content-Type': 'application/json' };
  const text = `tokens=${String(tokens)} pace=${String(pace)}`;
  return requestBytes('POST', '/api/thread/chat', headers, JSON.stringify({ text }));
}

/** Streams one turn to its end. @param onTokens gets the number of tokens as they come @throws when some are missing */
export async function streamTurn(
  lane: Asker,
  turn: Turn,
  onTokens: (count: number) => void = () => undefined,
): Promise<void> {
  const seen = new TokenCount();
  const head = await lane.ask(chatRequest(turn), (chunk) => {
    const before = seen.count;
    seen.take(chunk);
    onTokens(seen.count - before);
  });
  if (head.status !== 200 || seen.count !== turn.tokens) {
    throw new Error(`a turn of ${String(seen.count)} tokens instead of ${String(turn.tokens)}: ${head.text}`);
  }
}

/**
 * Streams turns of threads, one after another on a connection.
 * @param options `pace`: as in `Turn`; `counts`: the unit of work
 */
export function streamTurns(options: {
  readonly tokens: number;
  readonly pace?: number;
  readonly counts: 'turns' | 'tokens';
  readonly threads?: Conversations;
}): Work {
  const { tokens, pace = 0, counts, threads = new Conversations() } = options;
  return async (lane, worker, count) => {
    const turn = { sessionId: threads.next(worker), tokens, pace };
    await streamTurn(lane, turn, counts === 'tokens' ? count : undefined);
    if (counts === 'turns') count(1);
  };
}

/** How long a client waits between two polls, in milliseconds. */
const POLL_MS = 20;
const DONE = Buffer.from('"is_processing":false');

/** Sends a message on the current surface and polls the state until the turn is over. */
export function chatAndPoll(tokens: number): Work {
  const conversations = new Conversations();
  return async (lane, worker, count) => {
    const headers = { 'X-Session-Id': conversations.next(worker) };
    const message = encodeURIComponent(`tokens=${String(tokens)} pace=0`);
    const sent = await lane.ask(requestBytes('POST', `/api/chat?message=${message}`, headers));
    if (sent.status !== 200) throw new Error(sent.text);
    const poll = requestBytes('GET', '/api/state', headers);
    for (;;) {
      await sleep(POLL_MS);
      const seen = { done: false };
      const state = await lane.ask(poll, (chunk) => {
        seen.done ||= chunk.includes(DONE);
      });
      if (state.status !== 200) throw new Error(state.text);
      if (seen.done) break;
    }
    count(1);
  };
}
