import { linkSignals, untilAborted } from '../model/abort.js';
import type { App } from '../model/app.js';
import { hasInfinity, isDeeperThan, type JsonObject, type JsonValue } from '../model/json.js';
import { resultText, type ToolCall, type ToolResult } from '../model/message.js';
import { UNOBSERVED, type ToolObserver, type ToolOutcome } from '../ports/observer.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import {
  isInternalError,
  type Schemas,
  type Tool,
  type ToolContext,
  type ToolDescription,
  type ToolSource,
} from '../ports/tool.js';
import type { Problem } from '../model/refusal.js';
import { Scrubber } from './redaction.js';
import { wellFormed, wellFormedJson } from '../model/text.js';

/** The maximum size of a result's text. Longer results are cut, with a marker. */
export const MAX_RESULT_BYTES = 65_536;
/** The maximum size of an error's name in a log line. */
const MAX_NAME_BYTES = 200;
/** The maximum nesting of a result, in levels. */
const MAX_DEPTH = 200;
/** The maximum number of progress reports of one call. */
const MAX_PROGRESS = 200;

type Check = (value: JsonValue) => readonly Problem[];
type Described = readonly ToolDescription[];

/** Selects the tools of an App, and runs single tool calls. */
export class ToolRunner {
  #listed: readonly Tool[] | null = null;
  #byName: ReadonlyMap<string, Tool> = new Map();
  /** Results of `describe`, with and without a wallet, reset when the list of tools changes. */
  #described = { withWallet: new WeakMap<App, Described>(), withoutWallet: new WeakMap<App, Described>() };
  readonly #checks = new WeakMap<Tool, Check>();

  constructor(
    private readonly source: ToolSource,
    private readonly schemas: Schemas,
    private readonly settings: { readonly toolTimeoutMs: number },
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Lists the tools of an App for rigs and clients, in the order of the App's own list if it has one.
   * @param session.hasWallet false: without the tools that need a wallet
   */
  describe(app: App, { hasWallet }: { readonly hasWallet: boolean }): Described {
    const tools = [...this.#tools().values()];
    const cached = hasWallet ? this.#described.withWallet : this.#described.withoutWallet;
    const known = cached.get(app);
    if (known !== undefined) return known;
    const order = new Map(app.tools?.map((name, index) => [name, index]));
    const place = (name: string): number => order.get(name) ?? order.size;
    const described = tools
      .filter((tool) => isOffered(app, tool) && (hasWallet || tool.needsWallet !== true))
      .sort((one, other) => place(one.name) - place(other.name))
      .map(({ name, description, parameters }) => ({ name, description, parameters }));
    cached.set(app, described);
    return described;
  }

  /** Finds a tool of an App by name. */
  find(app: App, name: string): Tool | undefined {
    const tool = this.#tools().get(name);
    return tool !== undefined && isOffered(app, tool) ? tool : undefined;
  }

  /** Validates the arguments of a call. Paths begin with `args`. */
  problems(tool: Tool, args: JsonObject): readonly Problem[] {
    // The tool would run with another value than the one that is stored.
    if (hasInfinity(args)) return [{ path: 'args', message: 'must not have a number that is too large' }];
    let check = this.#checks.get(tool);
    if (check === undefined) this.#checks.set(tool, (check = this.schemas.compile(tool.parameters)));
    return check(args).map(({ path, message }) => ({ path: path === '' ? 'args' : `args.${path}`, message }));
  }

  /** True if a call of unknown outcome may be repeated. False for a tool that no longer exists. */
  isRepeatable(name: string): boolean {
    const sideEffects = this.#tools().get(name)?.sideEffects ?? 'yes';
    return sideEffects !== 'yes';
  }

  /**
   * Runs one call. An unknown tool, invalid arguments, a failure or a timeout is returned as a failed result with a
   * message. Secrets of the context are removed from the result and from progress.
   * @throws the reason of `context.signal` as soon as it aborts, even if the tool ignores the signal
   */
  async run(
    app: App,
    call: ToolCall,
    context: Omit<ToolContext, 'progress'>,
    report: (message: string) => void,
    observer: ToolObserver = UNOBSERVED,
  ): Promise<ToolResult> {
    let reports = 0;
    let isOver = false;
    const tool = this.find(app, call.name);
    const { callId, name } = call;
    const { sessionId } = context;
    const observed = observer.toolCalled({
      ...{ name: tool === undefined ? null : name, callId, app: app.name, sessionId },
    });
    let outcome: ToolOutcome = 'interrupted';
    const scrubber = Scrubber.ofSecrets(context.secrets);
    const progress = (message: string): void => {
      // A tool may still report progress after its call was aborted.
      if (isOver || context.signal.aborted || ++reports > MAX_PROGRESS) return;
      report(wellFormed(resultText(scrubber.result(message, MAX_RESULT_BYTES))));
    };
    try {
      const attempt = await this.#attempt(tool, call, { ...context, progress }, scrubber);
      outcome = attempt.outcome;
      const { result } = attempt;
      // A call that is repeated after a crash may have reported progress in its earlier attempt.
      const multiStep = reports > 0 || call.multiStep === true;
      return { callId, name, result, failed: outcome !== 'complete', multiStep };
    } finally {
      isOver = true;
      observed.ended(outcome);
    }
  }

  async #attempt(
    tool: Tool | undefined,
    call: ToolCall,
    context: ToolContext,
    scrubber: Scrubber,
  ): Promise<Attempt> {
    if (tool === undefined) return failure('refused', `There is no tool named ${call.name}`);
    if (call.problem !== undefined) return failure('refused', call.problem);
    const milliseconds = tool.timeoutMs ?? this.settings.toolTimeoutMs;
    const timeout = new AbortController();
    const cancelTimeout = this.clock.after(milliseconds, () => {
      const words = `The tool did not answer within ${String(milliseconds / 1000)} s`;
      timeout.abort(Object.assign(new Error(words), { name: 'TimeoutError' }));
    });
    const { signal, release } = linkSignals(context.signal, timeout.signal);
    try {
      const problems = this.problems(tool, call.args);
      if (problems.length > 0) {
        const list = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
        return failure('refused', `The arguments do not fit: ${list}`);
      }
      signal.throwIfAborted();
      const result = await untilAborted(tool.run(call.args, { ...context, signal }), signal);
      return { result: scrubber.result(asJson(result), MAX_RESULT_BYTES), outcome: 'complete' };
    } catch (error) {
      context.signal.throwIfAborted();
      const isDefect = isInternalError(error);
      const facts = isDefect ? { err: error } : { reason: reasonOf(error, scrubber) };
      this.log.warn({ tool: call.name, call: context.callId, ...facts }, 'tool failed');
      const words =
        error instanceof Error && !isDefect && error.message !== '' ? error.message : 'The tool failed';
      return failure(
        timeout.signal.aborted ? 'timeout' : 'failed',
        wellFormed(resultText(scrubber.result(words, MAX_RESULT_BYTES))),
      );
    } finally {
      cancelTimeout();
      release();
    }
  }

  #tools(): ReadonlyMap<string, Tool> {
    const listed = this.source.list();
    if (listed !== this.#listed) {
      this.#listed = listed;
      this.#described = { withWallet: new WeakMap(), withoutWallet: new WeakMap() };
      this.#byName = new Map(listed.map((tool) => [tool.name, tool]));
    }
    return this.#byName;
  }
}

/** True if an App may use a tool. */
function isOffered(app: App, { name, needsWallet }: Tool): boolean {
  if (needsWallet === true && app.wallet === null) return false;
  const server = app.toolServers.find((candidate) => name.startsWith(`${candidate}.`));
  if (server !== undefined) {
    const chosen = app.tools?.filter((tool) => tool.startsWith(`${server}.`)) ?? [];
    return chosen.length === 0 || chosen.includes(name);
  }
  return app.tools === null ? !name.includes('.') : app.tools.includes(name) && !name.includes('.');
}

interface Attempt {
  readonly result: JsonValue;
  readonly outcome: ToolOutcome;
}

function failure(outcome: ToolOutcome, words: string): Attempt {
  return { result: words, outcome };
}

/**
 * Converts a tool's result to JSON with well-formed text. Returns an object or array that will be cut as its JSON text,
 * without examining it.
 * @throws Error when JSON cannot represent it: tools may be custom modules that return anything
 */
function asJson(given: JsonValue): JsonValue {
  let text: unknown;
  try {
    text = JSON.stringify(given);
  } catch (error) {
    throw new Error('The tool gave a result that JSON cannot carry', { cause: error });
  }
  // JSON has no representation of `undefined`, which a tool may return in spite of its type.
  if (typeof text !== 'string') return null;
  if (text.length > MAX_RESULT_BYTES && !text.startsWith('"')) return text;
  const value: unknown = JSON.parse(text);
  if (!isJson(value)) return null;
  if (isDeeperThan(value, MAX_DEPTH)) throw new Error('The tool gave a result that is nested too deeply');
  return wellFormedJson(value);
}

/** A type guard for the compiler: parsed JSON is always a `JsonValue`. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** Returns the name of a tool's error for the log, without secrets, because the tool chooses that name. */
function reasonOf(error: unknown, scrubber: Scrubber): JsonValue {
  return error instanceof Error ? scrubber.result(error.name, MAX_NAME_BYTES) : typeof error;
}
