import { lastPage } from '../last-page.js';
import { beginsStoredTurn, turnsIn } from '../messages.js';
import type { HistoryMessage, HistoryPage, SessionState } from '../types.js';
import { beginsTurn } from '../wallet-words.js';
import { RECENT, type CurrentCalls } from './calls.js';

/** A turn that was running when the thread was read. */
export interface RunningTurn {
  readonly turnId: string;
  /** The number of messages that begin turns, up to and including the turn's own. */
  readonly ordinal: number;
}

/** The last messages of a thread, and its running turn. */
export interface Thread {
  readonly messages: readonly HistoryMessage[];
  readonly running: RunningTurn | undefined;
}

/** Maximum number of attempts to read a consistent state and history. */
const MAX_READS = 3;

/** Reads the last `limit` stored messages and the running turn. */
export async function readThread(calls: CurrentCalls, limit: number, signal?: AbortSignal): Promise<Thread> {
  for (let read = 1; ; read++) {
    const state = await calls.state(signal);
    const page = await lastPage(calls, limit, signal);
    if (read === MAX_READS || areConsistent(state, page))
      return { messages: page.messages, running: runningIn(state, page) };
  }
}

/** Returns the running turn; undefined if none is running. */
export async function readRunning(
  calls: CurrentCalls,
  signal: AbortSignal,
): Promise<RunningTurn | undefined> {
  const { status } = await calls.state(signal);
  return status === 'processing' ? (await readThread(calls, RECENT, signal)).running : undefined;
}

/** True if the last message that begins a turn is the same in the state and in the history. */
function areConsistent({ messages }: SessionState, page: HistoryPage): boolean {
  const asked = messages.findLast(beginsTurn);
  const stored = page.messages.findLast(beginsStoredTurn);
  return asked?.content === stored?.content && asked?.timestamp === stored?.createdAt;
}

/** Turns run in the order of their messages: the first one that has not ended is running, and the others wait. */
function runningIn(state: SessionState, { messages, turns }: HistoryPage): RunningTurn | undefined {
  const open = new Set(turns.filter(({ endedAt }) => endedAt === null).map(({ turnId }) => turnId));
  const turnId = messages.find((message) => open.has(message.turnId))?.turnId;
  if (turnId === undefined) return undefined;
  const waiting = messages.filter(
    (message) => open.has(message.turnId) && message.turnId !== turnId && beginsStoredTurn(message),
  );
  return { turnId, ordinal: turnsIn(state.messages) - waiting.length };
}
