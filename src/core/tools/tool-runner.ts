import { linkSignals, untilAborted } from '../model/abort.js';
import type { App } from '../model/app.js';
import { isDeeperThan, type JsonObject, type JsonValue } from '../model/json.js';
import { resultText, type ToolCall, type ToolResult } from '../model/message.js';
import { UNOBSERVED, type ToolObserver, type ToolOutcome } from '../ports/observer.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Schemas } from '../ports/tool.js';
import type { Tool, ToolContext, ToolDescription, ToolSource } from '../ports/tool.js';
import type { Problem } from '../model/refusal.js';
import { Scrubber } from './redaction.js';
import { wellFormed, wellFormedJson } from '../model/text.js';

/** A result's text may have this many bytes; the rest is cut, with a marker. */
export const MAX_RESULT_BYTES = 65_536;
/** The name of an error, in a log line. */
const MAX_NAME_BYTES = 200;
/** A result may be nested so deeply. */
const MAX_DEPTH = 200;
/** How often one call may report progress. */
const MAX_PROGRESS = 200;

type Check = (value: JsonValue) => readonly Problem[];

/** The tools that there are, which of them an App has, and the running of one call. */
export class ToolRunner {
  #listed: readonly Tool[] | null = null;
  #byName: ReadonlyMap<string, Tool> = new Map();
  /** What `describe` said since the list last changed. */
  #described = new WeakMap<App, readonly ToolDescription[]>();
  readonly #checks = new WeakMap<Tool, Check>();

  constructor(
    private readonly source: ToolSource,
    private readonly schemas: Schemas,
    private readonly settings: { readonly toolTimeoutMs: number },
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** The tools of an App, as a rig and a client see them, in the App's order where it gives one. */
  describe(app: App): readonly ToolDescription[] {
    const tools = [...this.#tools().values()];
    const known = this.#described.get(app);
    if (known !== undefined) return known;
    const order = new Map(app.tools?.map((name, index) => [name, index]));
    const place = (name: string): number => order.get(name) ?? order.size;
    const described = tools
      .filter(({ name }) => isOffered(app, name))
      .sort((one, other) => place(one.name) - place(other.name))
      .map(({ name, description, parameters }) => ({ name, description, parameters }));
    this.#described.set(app, described);
    return described;
  }

  /** A tool of an App. */
  find(app: App, name: string): Tool | undefined {
    return isOffered(app, name) ? this.#tools().get(name) : undefined;
  }

  /** What is wrong with the arguments of a call, with paths from `args` on. */
  problems(tool: Tool, args: JsonObject): readonly Problem[] {
    let check = this.#checks.get(tool);
    if (check === undefined) this.#checks.set(tool, (check = this.schemas.compile(tool.parameters)));
    return check(args).map(({ path, message }) => ({ path: path === '' ? 'args' : `args.${path}`, message }));
  }

  /** True when a call of unknown outcome may be made again. A tool that is gone may not. */
  isRepeatable(name: string): boolean {
    const sideEffects = this.#tools().get(name)?.sideEffects ?? 'yes';
    return sideEffects !== 'yes';
  }

  /**
   * Runs one call. Whatever goes wrong (no such tool, bad arguments, a failure, a timeout) is a failed result, told in
   * words: nothing is thrown but the reason of `context.signal`, at once when it aborts, whether the tool heeds it or
   * not. Neither the result nor the progress shows a secret of the context.
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
      // A tool that was given up on may still talk.
      if (isOver || context.signal.aborted || ++reports > MAX_PROGRESS) return;
      report(wellFormed(resultText(scrubber.result(message, MAX_RESULT_BYTES))));
    };
    try {
      const attempt = await this.#attempt(tool, call, { ...context, progress }, scrubber);
      outcome = attempt.outcome;
      const { result } = attempt;
      // A call that is repeated after a crash may have reported progress before.
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
      timeout.abort(new Error(`The tool did not answer within ${String(milliseconds / 1000)} s`));
    });
    const { signal, release } = linkSignals(context.signal, timeout.signal);
    try {
      const problems = this.problems(tool, call.args);
      if (problems.length > 0) {
        const list = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
        return failure('refused', `The arguments do not fit: ${list}`);
      }
      const result = await untilAborted(tool.run(call.args, { ...context, signal }), signal);
      return { result: scrubber.result(asJson(result), MAX_RESULT_BYTES), outcome: 'complete' };
    } catch (error) {
      context.signal.throwIfAborted();
      this.log.warn({ tool: call.name, reason: reasonOf(error, scrubber) }, 'tool failed');
      const words = error instanceof Error && error.message !== '' ? error.message : 'The tool failed';
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
      this.#described = new WeakMap();
      this.#byName = new Map(listed.map((tool) => [tool.name, tool]));
    }
    return this.#byName;
  }
}

/** Whether an App has the tool of this name, if there is one. */
function isOffered(app: App, name: string): boolean {
  const server = app.toolServers.find((candidate) => name.startsWith(`${candidate}.`));
  if (server !== undefined) {
    const chosen = app.tools?.filter((tool) => tool.startsWith(`${server}.`)) ?? [];
    return chosen.length === 0 || chosen.includes(name);
  }
  return app.tools === null ? !name.includes('.') : app.tools.includes(name) && !name.includes('.');
}

/** What one attempt at a call gave. */
interface Attempt {
  readonly result: JsonValue;
  readonly outcome: ToolOutcome;
}

function failure(outcome: ToolOutcome, words: string): Attempt {
  return { result: words, outcome };
}

/**
 * What a tool gave, as JSON has it, in well-formed text. @throws Error when JSON cannot carry it: a tool may be the
 * operator's own, and of any making
 */
function asJson(given: JsonValue): JsonValue {
  let text: unknown;
  try {
    text = JSON.stringify(given);
  } catch (error) {
    throw new Error('The tool gave a result that JSON cannot carry', { cause: error });
  }
  // What is undefined, whatever its type says, has no JSON.
  if (typeof text !== 'string') return null;
  const value: unknown = JSON.parse(text);
  if (!isJson(value)) return null;
  if (isDeeperThan(value, MAX_DEPTH)) throw new Error('The tool gave a result that is nested too deeply');
  return wellFormedJson(value);
}

/** What was parsed is JSON: this only tells the compiler. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** The name of a tool's error for the log, without secrets: the tool chose it. */
function reasonOf(error: unknown, scrubber: Scrubber): JsonValue {
  return error instanceof Error ? scrubber.result(error.name, MAX_NAME_BYTES) : typeof error;
}
