/**
 * The rig is asked while the message is on its way to the disk: the commit, and the way to the writing thread and back, are 1 to 2 ms
 * that the first token would come later. Nothing of the answer is read before the message is durable, so that nobody sees or
 * loses what was not stored (docs/decisions/017).
 */
import type { App } from './app.js';
import type { Message } from './message.js';
import type { Parts } from './parts.js';
import type { Rig, RigPart, RigRequest } from './ports.js';
import { questionOf } from './question.js';
import type { Acceptance, Accepted } from './store.js';
import type { ActiveThread } from './thread.js';
import type { SessionWrites } from './underway.js';

/** The first question of a turn that is not stored yet, and what comes of it. */
export class HeadStart {
  /** Stops the question; that of the turn, once there is one. */
  readonly controller = new AbortController();
  readonly #answered: Promise<void>;
  /** Parts that came before somebody listened. */
  #waiting: RigPart[] = [];
  #take: (part: RigPart) => void = (part) => this.#waiting.push(part);

  /** Asks. */
  constructor(
    readonly rig: Rig,
    readonly request: RigRequest,
  ) {
    this.#answered = rig.respond(request, this.controller.signal, (part) => {
      this.#take(part);
    });
    // Whoever listens is told.
    this.#answered.catch(() => undefined);
  }

  /** The answer, for one listener: what waits at once, then each part as it comes. As `Rig.respond`. */
  listen(take: (part: RigPart) => void): Promise<void> {
    for (const part of this.#waiting) take(part);
    this.#waiting = [];
    this.#take = take;
    return this.#answered;
  }

  /** There is no turn that it is for: the request is cut off. */
  drop(): void {
    this.controller.abort(new Error('The message was not accepted'));
  }
}

/** Stores messages, and gives their turns a head start where it is all but certain that they begin at once. */
export class HeadStarts {
  /** A store that fails now would have each message asked in vain, and each try of it. */
  #isStoreWell = true;

  constructor(
    private readonly parts: Parts,
    private readonly writes: SessionWrites,
  ) {}

  /** One of the messages that are under way. @param thread as the acceptance takes it to be. @throws what the store throws */
  async accept(
    thread: ActiveThread,
    app: App,
    acceptance: Acceptance,
  ): Promise<{ readonly accepted: Accepted; readonly headStart: HeadStart | undefined }> {
    const { revision } = thread.session;
    const headStart = this.#begin(thread, app, acceptance);
    let isRight = false;
    try {
      const accepted = await this.parts.store.acceptMessage(acceptance);
      this.#isStoreWell = true;
      // Something else was stored meanwhile: the question may lack it.
      isRight =
        accepted.kind === 'accepted' &&
        accepted.claimed !== null &&
        accepted.commit.revision === revision + 1;
      return { accepted, headStart: isRight ? headStart : undefined };
    } catch (error) {
      this.#isStoreWell = false;
      throw error;
    } finally {
      if (!isRight) headStart?.drop();
    }
  }

  /** Undefined where the store may decide otherwise: by a turn that runs, a key that was used, a quota. */
  #begin(thread: ActiveThread, app: App, acceptance: Acceptance): HeadStart | undefined {
    const { idempotency, quotas, claim, set } = acceptance;
    const isCertain = idempotency === null && quotas.length === 0 && claim !== null;
    if (!isCertain || !this.#isStoreWell || thread.stale || thread.open.length > 0) return undefined;
    // Of several messages only one begins at once. A title that is being stored changes the session before this one.
    const { messages, titles } = this.writes;
    if (messages.count(thread.id) > 1 || titles.count(thread.id) > 0) return undefined;
    const session = { ...thread.session, ...set };
    const chosen = this.parts.rigs.choose(app, session.rig);
    // A rig that is not there any more is told about first.
    if (chosen === undefined || chosen.replaced) return undefined;
    const { rig } = chosen;
    const history = [...thread.settled, messageOf(acceptance)];
    try {
      return new HeadStart(rig, questionOf({ app, rig, toolbox: this.parts.toolbox }, session, history));
    } catch (error) {
      // The message is taken all the same; its turn finds the same fault, and tells it.
      this.parts.log.warn({ err: error, rig: rig.id }, 'a rig could not be asked early');
      return undefined;
    }
  }
}

/** The message as it will be stored, but for the number of its turn. */
function messageOf({ messageId, turnId, text, at }: Acceptance): Message {
  return {
    id: messageId,
    turnId,
    turnNo: 0,
    position: 0,
    role: 'user',
    content: text,
    toolCalls: null,
    toolResults: null,
    createdAt: at,
  };
}
