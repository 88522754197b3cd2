import type { HistoryPage, SessionEvent, SessionState, ToolProgress } from '../types.js';
import { settledAfter } from '../messages.js';
import { withFates } from './fates.js';
import { callsOf, endedTurns, mergedHistory, textOf, withOrigins } from './history.js';
import { reused } from './reuse.js';
import { readState, turnsOf } from './stated.js';
import { noted, withArguments, withProgress } from './tools.js';
import { isBusy, type Block, type Unseen, type View, type ViewMessage } from './view.js';

/**
 * A change to a view: an event of the session, a message that the user sends, a page of the history, or `gone`: the
 * service no longer has the session.
 */
export type Change =
  | SessionEvent
  | { readonly type: 'sending'; readonly message: Unseen }
  | { readonly type: 'not_sent'; readonly key: string }
  | { readonly type: 'history'; readonly page: HistoryPage }
  | { readonly type: 'notices_read' }
  | { readonly type: 'gone' };

const MAX_NOTICES = 3;

/** Returns the view after a change. */
export function changed(view: View, change: Change): View {
  switch (change.type) {
    case 'connection':
      return { ...view, connection: change.state };
    case 'state':
      return stated(view, change.state);
    case 'turn_started':
      return started(view, change.turnId);
    case 'text':
      return withText(opened(view), change.content);
    case 'tool':
      return view.turn === null ? withOutcome(view, change) : withTool(view, change);
    case 'turn_ended':
      return ended(view, change.turnId);
    case 'title':
      return { ...view, title: change.title };
    case 'notice':
      return { ...view, notices: [...view.notices, change.message].slice(-MAX_NOTICES) };
    case 'notices_read':
      return { ...view, notices: [] };
    case 'sending':
      return placed({ ...view, unseen: [...view.unseen, change.message] }, change.message.text);
    case 'not_sent':
      return withdrawn(view, change.key);
    case 'history':
      return withHistory(view, change.page);
    case 'gone':
      return withoutTurns(view);
  }
  return change satisfies never;
}

/** Applies a state, which replaces everything; sent messages that it does not contain yet stay at the end. */
function stated(view: View, state: SessionState): View {
  const { messages, queued, users, turns: ordinal } = readState(state, view.settledTurns);
  const fresh = users.slice(view.statedUsers);
  const unseen = view.unseen.filter(({ text }) => {
    const index = fresh.indexOf(text);
    if (index !== -1) fresh.splice(index, 1);
    return index === -1;
  });
  const id = view.turn?.ordinal === ordinal ? view.turn.id : null;
  const before = view.turn?.ordinal === ordinal ? view.turn.before : (view.turn?.id ?? null);
  const next: View = {
    ...view,
    ...{ isLoaded: true, title: state.title ?? view.title, queued, unseen, statedUsers: users.length },
    messages: reused(view.messages, completed(messages, view, state.status)),
    status: state.status,
    settledTurns: settledAfter(state, view.settledTurns),
    turn: state.status === 'processing' ? { ordinal, id, before } : null,
    userState: state.userState,
    raw: state.raw,
  };
  return unseen.reduce((shown, { text }) => placed(shown, text), next);
}

function withHistory(view: View, page: HistoryPage): View {
  const history = mergedHistory(view.history, page);
  const ended = endedTurns(history, view.turn?.id ?? null);
  const next = settled({ ...view, history, calls: callsOf(history) }, ended);
  // The turn of a message that was just sent is not in the last state.
  const messages = completed(next.messages, next, view.unseen.length > 0 ? 'processing' : view.status);
  return { ...next, messages: reused(view.messages, messages) };
}

/**
 * Applies how many turns have certainly ended. A message that was cancelled before its reply began looks, in the first
 * state, like the one whose turn is running: then the next one is.
 */
function settled(view: View, turns: number): View {
  const { turn, queued, messages } = view;
  if (turn === null || turn.ordinal > turns || queued.length === 0)
    return { ...view, settledTurns: Math.max(view.settledTurns, turns) };
  const last = messages.at(-1);
  // A reply that began after the last state is that of the running turn.
  const reply = last?.role === 'assistant' && last.at === undefined ? [last] : [];
  const next = promoted({ ...view, messages: messages.slice(0, messages.length - reply.length) });
  const moved = reply.map((message) => ({ ...message, id: String(next.messages.length) }));
  const running = { ...turn, ordinal: turn.ordinal + 1 };
  return settled({ ...next, messages: [...next.messages, ...moved], turn: running }, turns);
}

/** Adds to messages what states leave out, as far as it is known. */
function completed(
  messages: readonly ViewMessage[],
  { calls, history }: View,
  status: SessionState['status'],
): readonly ViewMessage[] {
  return withFates(withOrigins(withArguments(messages, calls), history, status), status);
}

function started(view: View, turnId: string): View {
  const { turn } = view;
  // Started again: the text was generated again and is sent from its beginning.
  if (turn?.id === turnId) {
    const hasBegun = view.messages.at(-1)?.role === 'assistant';
    return hasBegun ? withBlocks(view, (blocks) => blocks.filter(({ kind }) => kind === 'tool')) : view;
  }
  if (turn?.id === null) return { ...view, turn: { ...turn, id: turnId } };
  const next = promoted(view);
  return { ...next, turn: { ordinal: turnsOf(next.messages), id: turnId, before: turn?.id ?? null } };
}

function ended(view: View, turnId: string): View {
  const { turn } = view;
  const isOther = turn === null || (turn.id === null ? turn.before === turnId : turn.id !== turnId);
  return isOther ? view : { ...view, turn: null };
}

/** Moves the first queued message into the thread as the running turn. */
function promoted(view: View): View {
  const [text, ...queued] = view.queued;
  return text === undefined ? view : { ...view, queued, messages: [...view.messages, asked(view, text)] };
}

/** Ends all turns, as an interruption does. The connection is not lost, but nothing follows. */
function withoutTurns(view: View): View {
  const next: View = { ...view, connection: 'open' };
  if (!isBusy(view)) return next;
  const messages = withFates(view.messages, 'interrupted');
  const ended: View = { ...next, messages, queued: [], turn: null, status: 'interrupted' };
  return view.queued.reduce(cancelled, ended);
}

/** Adds a message that was cancelled before its reply began. */
function cancelled(view: View, text: string): View {
  return { ...view, messages: [...view.messages, { ...asked(view, text), fate: 'cancelled' }] };
}

/** Returns the view with a running turn. */
function opened(view: View): View {
  if (view.turn !== null) return view;
  const next = promoted(view);
  return { ...next, turn: { ordinal: turnsOf(next.messages), id: null, before: null } };
}

/** Places a sent message: it starts a turn, or is queued. */
function placed(view: View, text: string): View {
  const queued = [...view.queued, text];
  return view.turn === null && view.queued.length === 0 ? opened({ ...view, queued }) : { ...view, queued };
}

function withdrawn(view: View, key: string): View {
  const message = view.unseen.find((unseen) => unseen.key === key);
  if (message === undefined) return view;
  const unseen = view.unseen.filter((other) => other !== message);
  const index = view.queued.lastIndexOf(message.text);
  if (index !== -1) return { ...view, unseen, queued: view.queued.toSpliced(index, 1) };
  // It was shown as the running turn, but no turn was started.
  const last = view.messages.at(-1);
  const isShown = last?.role === 'user' && textOf(last) === message.text;
  return { ...view, unseen, turn: null, messages: isShown ? view.messages.slice(0, -1) : view.messages };
}

function withText(view: View, content: string): View {
  return withBlocks(view, (blocks) => {
    const last = blocks.at(-1);
    if (last?.kind !== 'text') return [...blocks, { kind: 'text', text: content }];
    return [...blocks.slice(0, -1), { kind: 'text', text: last.text + content }];
  });
}

function withTool(view: View, reported: ToolProgress): View {
  const next = withBlocks(view, (blocks) => withProgress(blocks, reported));
  const calls = noted(view.calls, reported);
  return { ...next, calls, messages: withArguments(next.messages, calls) };
}

/**
 * Applies a tool result that may arrive after the end of its turn, because the legacy surface sends them on different
 * streams.
 */
function withOutcome(view: View, reported: ToolProgress): View {
  if (!view.calls.some(({ callId }) => callId === reported.callId)) return view;
  const calls = noted(view.calls, reported);
  return { ...view, calls, messages: withArguments(view.messages, calls) };
}

/** Changes the running reply, or starts one. */
function withBlocks(view: View, change: (blocks: readonly Block[]) => readonly Block[]): View {
  const last = view.messages.at(-1);
  if (last?.role === 'assistant') {
    return { ...view, messages: [...view.messages.slice(0, -1), { ...last, blocks: change(last.blocks) }] };
  }
  const message: ViewMessage = { id: String(view.messages.length), role: 'assistant', blocks: change([]) };
  return { ...view, messages: [...view.messages, message] };
}

function asked(view: View, text: string): ViewMessage {
  return { id: String(view.messages.length), role: 'user', blocks: [{ kind: 'text', text }] };
}
