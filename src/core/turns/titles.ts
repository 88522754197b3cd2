import type { Store } from '../ports/store.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { ProviderKeys } from '../access/provider-keys.js';
import type { RigRegistry } from '../rigs/rig-registry.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { Message } from '../model/message.js';
import type { AnswerOutcome } from '../ports/observer.js';
import { respond } from './masked-response.js';
import { announce, type Bus } from '../ports/bus.js';
import type { PromptMessage, Rig, RigRequest } from '../ports/rig.js';
import type { RunningTurn } from './running-turn.js';
import { wellFormed } from '../model/text.js';
import type { CachedSession } from '../sessions/cached-session.js';
import { countable, NO_USAGE } from '../model/turn.js';

const INSTRUCTIONS =
  'Give the conversation a title of at most six words, in its language. Answer with the title alone: no quotes, no full stop.';
const TIMEOUT_MS = 30_000;
const MAX_TITLE = 80;
const MAX_FALLBACK = 48;
/** How many characters of each message are sent to the rig. */
const MAX_EXCERPT = 2_000;
/** The response is aborted after this many characters, because it is not a title. */
const MAX_PROPOSAL = 1_000;

interface TitleMaterial {
  /**
   * All messages of the finished turn. The cached session may lack the last ones when another node writes to the
   * thread.
   */
  readonly records: readonly Message[];
  /** False while the service drains: the title is then taken from the first message. */
  readonly asksRig: boolean;
}

/** The dependencies of `Titles`. */
export interface TitleParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly rigs: RigRegistry;
  readonly providerKeys: ProviderKeys;
  readonly threads: SessionCache;
}

/** Generates the title of a thread in the background, after its first finished turn. */
export class Titles {
  readonly #making = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  /** The requests in progress. Not `AbortSignal.any`, because a long-lived source signal keeps a reference for each. */
  readonly #requests = new Set<AbortController>();

  constructor(private readonly parts: TitleParts) {}

  /** Generates a title, unless the thread has one or one is being generated. */
  make(thread: CachedSession, running: RunningTurn, from: TitleMaterial): void {
    if (thread.session.titleSource !== 'placeholder' || this.#making.has(thread.id)) return;
    const making = this.#make(thread, running, from)
      .catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'failed to store a title');
      })
      .finally(() => this.#making.delete(thread.id));
    this.#making.set(thread.id, making);
  }

  /** Aborts the requests in progress. Resolves when none is left. */
  async close(): Promise<void> {
    const reason = new Error('The service is stopping');
    this.#stop.abort(reason);
    for (const asked of this.#requests) asked.abort(reason);
    await Promise.all(this.#making.values());
  }

  async #make(
    thread: CachedSession,
    running: RunningTurn,
    { records, asksRig }: TitleMaterial,
  ): Promise<void> {
    const isUsers = ({ role }: Message): boolean => role === 'user';
    // The first message may belong to an earlier turn that did not complete.
    const first = thread.settled.find(isUsers) ?? records.find(isUsers);
    if (first === undefined) return;
    const rig = asksRig ? this.parts.rigs.all.find(({ id }) => id === running.rigId) : undefined;
    // A turn that a wallet's report began has no message of the user.
    const material = records.some(isUsers) ? records : [first, ...records];
    const asked = rig === undefined ? '' : await this.#ask(rig, running, material);
    const title = cleanTitle(asked) ?? fallbackTitle(first.content);
    if (title === undefined) return;
    while (!(await this.#save(thread.id, running.turn.id, title)));
  }

  /** Returns false if the session has changed since it was read: nothing was stored. */
  async #save(id: string, turnId: string, title: string): Promise<boolean> {
    const { threads } = this.parts;
    // Opened again, because the cache may have evicted the session during the request.
    const thread = await threads.openForWrite({ id, ifUnknown: 'create' });
    return threads.hold(thread, () => this.#store(thread, turnId, title));
  }

  async #store(thread: CachedSession, turnId: string, title: string): Promise<boolean> {
    const { store, clock, bus } = this.parts;
    const { id } = thread;
    const { titleSource, version } = thread.session;
    const isThere = thread.settled.some((message) => message.turnId === turnId);
    // A user has set a title, or the thread was deleted and its id may have been reused.
    if (titleSource !== 'placeholder' || !isThere) return true;
    const saved = await store.saveSession({
      ...{ id, ifMissing: 'refuse', ifVersion: version, isActivity: false, at: clock.now() },
      ...{ set: { title, titleSource: 'automatic' }, events: [{ type: 'title_changed', title }] },
    });
    if (saved.kind === 'saved') {
      thread.apply(saved.commit, () => (thread.session = saved.session));
      announce(bus, id, saved.commit);
    } else if (saved.kind === 'stale') thread.stale = true;
    return saved.kind !== 'stale';
  }

  /** Requests a title from the rig. Returns an empty text on failure: a missing title is not worth an error. */
  async #ask(rig: Rig, running: RunningTurn, records: readonly Message[]): Promise<string> {
    const observed = running.observed.asked(rig, 'title');
    const { clientId } = running.turn;
    const messages: PromptMessage[] = [];
    for (const { role, content } of records) {
      const excerpt = content.slice(0, MAX_EXCERPT).toWellFormed();
      if (role === 'user') messages.push({ role, content: excerpt });
      else if (role === 'assistant' && excerpt !== '')
        messages.push({ role, content: excerpt, toolCalls: [], toolResults: [] });
    }
    const asked = new AbortController();
    this.#requests.add(asked);
    if (this.#stop.signal.aborted) asked.abort(this.#stop.signal.reason);
    const cancelTimeout = this.parts.clock.after(TIMEOUT_MS, () => {
      asked.abort(new DOMException('The title took too long', 'TimeoutError'));
    });
    let text = '';
    let usage = NO_USAGE;
    let outcome: AnswerOutcome = 'failed';
    try {
      const apiKey =
        clientId === null ? undefined : await this.parts.providerKeys.keyFor(clientId, rig.provider);
      const request: RigRequest = {
        purpose: 'title',
        instructions: INSTRUCTIONS,
        messages,
        tools: [],
        ...(apiKey !== undefined && { apiKey }),
      };
      await respond(rig, request, asked.signal, (part) => {
        if (part.type === 'text') {
          if (text === '') observed.spoke();
          text += part.text;
        } else if (part.type === 'end') usage = countable(part.usage);
        if (text.length > MAX_PROPOSAL) asked.abort(new Error('The title is too long'));
      });
      outcome = 'complete';
    } catch (error) {
      // Aborted by `close`, so not a failure of the rig.
      if (this.#stop.signal.aborted) outcome = 'interrupted';
      else this.parts.log.warn({ err: error, rig: rig.id }, 'failed to generate a title');
      return '';
    } finally {
      cancelTimeout();
      this.#requests.delete(asked);
      observed.ended(outcome, usage, 0);
    }
    return text;
  }
}

/**
 * The reasoning of a model whose server does not separate it from the response. The prompt may contain its `<think>`;
 * the output limit may cut off its `</think>`.
 */
const REASONING = /^(?:[^]*<\/think>|\s*<think>[^]*)/i;

/** Returns a rig's proposal as one short line; undefined if it is unusable. */
function cleanTitle(text: string): string | undefined {
  const line = wellFormed(text).replace(REASONING, '').trim().split('\n')[0] ?? '';
  const bare = line
    .replace(/^(title:|#+|>)\s*/i, '')
    .replace(/^["'“”«»`*]+|["'“”«»`*.]+$/g, '')
    .trim();
  return bare === '' || bare.length > MAX_TITLE ? undefined : bare;
}

/** Returns the first words of a message. */
function fallbackTitle(message: string): string | undefined {
  const words = message.split(/\s+/).filter((word) => word !== '');
  let title = '';
  for (const word of words) {
    const longer = title === '' ? word : `${title} ${word}`;
    if (longer.length > MAX_FALLBACK) break;
    title = longer;
  }
  if (title === words.join(' ')) return title === '' ? undefined : title;
  return `${
    title === ''
      ? Array.from(words[0] ?? '')
          .slice(0, MAX_FALLBACK)
          .join('')
      : title
  }…`;
}
